import { rescoreSweep } from "@hallumaze/engine";
import { openHouse } from "@hallumaze/runtime";

import { exitCodes } from "../exit-codes.ts";
import { findSweep } from "../find-sweep.ts";
import type { AddCommand } from "../program.ts";

/** `rescore SWEEP`: readings, walks and scores again from stored replies; no calls. */
export const addRescoreCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("rescore")
    .description("read and score every stored reply of a sweep again; no provider is called")
    .argument("<sweep>", "name of the sweep")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze rescore baselines\n");
  register(command, async (name: string, options: { readonly json?: boolean }) => {
    await using house = await openHouse(console.environment(), console.logger());
    const sweep = await findSweep(house.store, name);
    const report = await rescoreSweep(house.store, sweep.sweepId, console.interrupt);
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, ...report }));
    else console.out(`${sweep.name}: ${report.rescored} replies scored again, ${report.failed} could not be`);
    if (report.firstMessage) console.err(`first: ${report.firstMessage}`);
    return report.failed > 0 ? exitCodes.unexpected : exitCodes.ok;
  });
};
