import { type AddCommand, exitCodes } from "@hallumaze/console";
import { submitSweep } from "@hallumaze/engine";
import { defaultSlots, openHouse, planInHouse, readProvenance, watchHouse } from "@hallumaze/runtime";

import { readSpecFile, refusePastDeadlines } from "../inputs.ts";
import { deadlineWarnings, estimateToKeep } from "./plan.ts";
import { programFolder, programVersion, readBuild } from "../env.ts";

/** `submit SPEC`: writes the grid and enqueues it; workers do the rest. */
export const addSubmitCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("submit")
    .description("write a sweep's grid into the database and enqueue it; workers run it")
    .argument("<spec>", "spec file, YAML or JSON")
    .option("--fresh", "run cells again that another sweep of this database has answered")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze submit sweep.yaml && hallumaze worker --role solve\n");
  register(command, async (path: string, options: { fresh?: boolean; json?: boolean }) => {
    const spec = await readSpecFile(console, path);
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const fresh = options.fresh === true;
    const nowMs = console.now();
    const plan = await planInHouse(house, spec, { fresh, rehearsal: false, concurrency: defaultSlots, nowMs });
    refusePastDeadlines(plan, nowMs);
    for (const warning of deadlineWarnings(plan, nowMs)) console.err(`warning: ${warning}`);
    await using watch = await watchHouse(house, console.environment(), await readBuild(), null);
    const queue = watch.tracing?.producer(house.queue) ?? house.queue;
    const report = await submitSweep({ store: house.store, queue }, spec, {
      provenance: await readProvenance(programFolder, programVersion),
      fresh,
      rehearsal: false,
      signal: console.interrupt,
      estimateJson: estimateToKeep(plan),
    });
    const { cells, inserted, existing, reused, leftGrid, enqueued } = report;
    if (inserted + leftGrid + enqueued > 0) {
      console.logger().info({ sweepId: report.sweep.sweepId, inserted, leftGrid, enqueued }, "sweep queued");
    }
    if (options.json) {
      console.out(JSON.stringify({ sweep: spec.name, cells, inserted, existing, reused, leftGrid, enqueued }));
      return exitCodes.ok;
    }
    console.out(
      `${spec.name}: ${cells} cells, ${inserted} new, ${existing} known, ${reused} answered by another sweep`,
    );
    if (leftGrid > 0) console.out(`${leftGrid} cells left the grid with this spec; their results are kept`);
    console.out(`${enqueued} trials enqueued (${house.queueName}); data in ${house.databaseName}`);
    return exitCodes.ok;
  });
};
