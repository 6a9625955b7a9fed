import { type AddCommand, type Console, exitCodes, explainError } from "@hallumaze/console";
import { statfs } from "node:fs/promises";

import { openHouse } from "@hallumaze/runtime";

import { drawTable } from "@hallumaze/reports";

type Verdict = "ok" | "note" | "wrong";

interface Finding {
  readonly what: string;
  readonly verdict: Verdict;
  readonly says: string;
}

/** Keys of the vendors; only whether they are set is looked at. */
const keyNames = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY"] as const;
const skewNoteMs = 5000;
const freeNoteBytes = 2 * 1024 ** 3;

/** `doctor`: checks Node, database, queue, keys, disk and clock, and says what to do. */
export const addDoctorCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("doctor")
    .description("check Node, database, queue, keys, disk and clock; says what to do")
    .option("--json", "print the findings as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze doctor\n");
  register(command, async (options: { readonly json?: boolean }) => {
    const findings = [checkNode(), ...(await checkHouse(console)), await checkDisk(console), ...checkKeys(console)];
    if (options.json) console.out(JSON.stringify(findings));
    else
      console.out(
        drawTable(
          ["check", "", ""],
          findings.map((f) => [f.what, f.verdict, f.says]),
          10_000,
        ),
      );
    return findings.some((finding) => finding.verdict === "wrong") ? exitCodes.unexpected : exitCodes.ok;
  });
};

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  const says = isEnough ? process.version : `${process.version} is too old: install Node 20.19 or newer`;
  return { what: "node", verdict: isEnough ? "ok" : "wrong", says };
}

async function checkHouse(console: Console): Promise<readonly Finding[]> {
  try {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    await house.store.ping(5000);
    await house.queue.ping(5000);
    const skewMs = console.now() - (await house.store.serverTimeMs());
    return [
      { what: "database", verdict: "ok", says: house.databaseName },
      { what: "queue", verdict: "ok", says: house.queueName },
      {
        what: "clock",
        verdict: Math.abs(skewMs) > skewNoteMs ? "note" : "ok",
        says: `${Math.abs(Math.round(skewMs))} ms from the database server's clock`,
      },
    ];
  } catch (error) {
    return [{ what: "database and queue", verdict: "wrong", says: explainError(error) }];
  }
}

async function checkDisk(console: Console): Promise<Finding> {
  const { bavail, bsize } = await statfs(console.workingFolder);
  const freeBytes = bavail * bsize;
  const says = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free in the working folder`;
  return { what: "disk", verdict: freeBytes < freeNoteBytes ? "note" : "ok", says };
}

function checkKeys(console: Console): readonly Finding[] {
  return keyNames.map((name) => ({
    what: name,
    verdict: "ok",
    says: console.variables[name] ? "set" : "not set: needed for models of that vendor only",
  }));
}
