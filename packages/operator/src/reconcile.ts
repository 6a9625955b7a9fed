import { type AddCommand, exitCodes } from "@hallumaze/console";
import { openHouse, repairHouse } from "@hallumaze/runtime";

/** `reconcile`: compares ledger and queue now, as every worker does from time to time. */
export const addReconcileCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("reconcile")
    .description("compare database and queue and put right what differs; workers do so every quarter of a minute")
    .option(
      "--recount",
      "count every row of the ledger anew as well, as after a restore by other tools; minutes on a million",
    )
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze reconcile\n");
  register(command, async (options: { readonly recount?: boolean; readonly json?: boolean }) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    if (options.recount) {
      await house.store.recount();
      console.logger().info("ledger counted anew");
      if (!options.json) console.out("counts: taken anew from every row");
    }
    const report = await repairHouse(house);
    const { reclaimed, redelivered, judgements, unblocked } = report;
    if (options.json) console.out(JSON.stringify(report));
    else if (reclaimed + redelivered + judgements + unblocked === 0) console.out("nothing to put right");
    else
      console.out(
        `${reclaimed} trials of lost workers put back, ${redelivered} delivered again, ${judgements} judgements delivered ` +
          `again, ${unblocked} put back in lanes that go on`,
      );
    return exitCodes.ok;
  });
};
