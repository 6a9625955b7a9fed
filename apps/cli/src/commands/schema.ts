import { specJsonSchema } from "@hallumaze/sweep";

import { exitCodes } from "../console.ts";
import type { AddCommand } from "../program.ts";

/** `schema`: the JSON Schema of spec files, for editors. */
export const addSchemaCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("schema")
    .description("print the JSON Schema of spec files, for editors")
    .option("--json", "print JSON (the default)")
    .addHelpText("after", "\nExample:\n  $ hallumaze schema > sweep.schema.json\n");
  register(command, async () => {
    console.out(JSON.stringify(specJsonSchema(), null, 2));
    return exitCodes.ok;
  });
};
