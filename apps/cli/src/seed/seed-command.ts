import type { AddCommand } from "../program.ts";

/** The seed document's own command line: options without a subcommand. */
export const addSeedOptions: AddCommand = () => undefined;
