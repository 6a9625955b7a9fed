import { type AddCommand, checkKnown, exitCodes, findSweep, UsageError } from "@hallumaze/console";
import { limiterLaneOf } from "@hallumaze/judging";
import { drawTable, formatCount, singleLine } from "@hallumaze/reports";
import { type House, openHouse, openLaneCatalog } from "@hallumaze/runtime";
import { type LimitChange, namedLanes, parkLane, readDurationMs, resumeLane } from "@hallumaze/steering";

import { describeControl, describeLimits, listLanes, type LaneReport } from "./lane-reports.ts";

interface Json {
  readonly json?: boolean;
}

/** `lanes [SWEEP]`, `lanes park`, `lanes resume`, `lanes limit`: what operators say of lanes, while they run. */
export const addLanesCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("lanes")
    .description("list lanes; park, resume and limit them while workers run")
    .argument("[sweep]", "name of the sweep; all lanes with work, a park or a limit of an operator when left out")
    .option("--json", "print JSON, one line a lane")
    .addHelpText(
      "after",
      `
Example:
  $ hallumaze lanes overnight
  $ hallumaze lanes limit openai/gpt-4o rpm=50 tpm=30000 concurrency=4
  $ hallumaze lanes park openai/gpt-4o --reason "quota of the day" --for 2h
`,
    );
  register(command, async (name: string | undefined, options: Json) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = name === undefined ? null : await findSweep(house.store, name);
    const lanes = await listLanes(house, sweep);
    if (options.json) for (const lane of lanes) console.out(JSON.stringify(lane));
    else if (lanes.length === 0) console.err("no lane has work, a park or a limit of an operator");
    else {
      const heads = ["lane", "waiting", "active", "delayed", "configured", "in force", "used"];
      console.out(drawTable(heads, lanes.map(cellsOf), console.columns()));
      for (const line of lanes.flatMap(linesOf)) console.out(line);
    }
    return exitCodes.ok;
  });
  addParkCommand(command, console, register);
  addLaneResumeCommand(command, console, register);
  addLimitCommand(command, console, register);
};

const addParkCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("park")
    .description("let nothing new start in a lane, on any machine, until it is resumed or the time is over")
    .argument("<lane>", "lane, or a model of it")
    .option("--reason <text>", "why, for those who look at it")
    .option("--for <time>", "for so long: 30s, 90m, 2h, 1d")
    .option("--json", "print JSON, one line a lane")
    .addHelpText("after", '\nExample:\n  $ hallumaze lanes park openai/gpt-4o --reason "key is changed" --for 2h\n');
  register(command, async (word: string, options: Json & { readonly reason?: string; readonly for?: string }) => {
    const forMs = options.for === undefined ? null : readDurationMs(options.for);
    if (options.for !== undefined && (forMs === null || forMs <= 0)) {
      throw new UsageError(`--for: "${options.for}" is no time; expected 30s, 90m, 2h, 1d; 1,000 days at most.`);
    }
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    for (const lane of await namedLanes(house.store, word)) {
      const blocked = await parkLane(house, lane, options.reason ?? null, forMs);
      console.logger().info({ lane, by: "operator", forMs, blocked }, "lane parked");
      if (options.json) console.out(JSON.stringify({ lane, parked: true, blocked }));
      else
        console.out(`${lane}: parked, ${blocked} waiting trials blocked; go on with: hallumaze lanes resume ${lane}`);
    }
    return exitCodes.ok;
  });
};

const addLaneResumeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("resume")
    .description("let a parked lane go on, whoever parked it, and put back what it blocked")
    .argument("<lane>", "lane, or a model of it")
    .option("--json", "print JSON, one line a lane")
    .addHelpText("after", "\nExample:\n  $ hallumaze lanes resume openai/gpt-4o\n");
  register(command, async (word: string, options: Json) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    for (const lane of await namedLanes(house.store, word)) {
      const { wasParked, putBack } = await resumeLane(house, lane);
      if (wasParked || putBack > 0) console.logger().info({ lane, trials: putBack }, "lane resumed");
      if (options.json) console.out(JSON.stringify({ lane, wasParked, requeued: putBack }));
      else console.out(`${lane}: ${wasParked ? "goes on" : "was not parked"}, ${putBack} trials put back`);
    }
    return exitCodes.ok;
  });
};

const limitNames = ["rpm", "inputTpm", "outputTpm", "tpm", "concurrency"] as const;

const addLimitCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("limit")
    .description("change limits of a lane while it runs, over every spec, until --reset")
    .argument("<lane>", "lane, or a model of it")
    .argument("[limits...]", `such as rpm=50 concurrency=4; names: ${limitNames.join(", ")}; none takes one away`)
    .option("--reset", "what the specs say holds again")
    .option("--json", "print JSON, one line a lane")
    .addHelpText("after", "\nExample:\n  $ hallumaze lanes limit openai/gpt-4o rpm=50 tpm=30000 concurrency=4\n");
  register(command, async (word: string, words: readonly string[], options: Json & { readonly reset?: boolean }) => {
    const change = readLimits(words);
    if ((words.length === 0) !== (options.reset === true)) {
      throw new UsageError("say either limits, such as rpm=50, or --reset.");
    }
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const lanes = [...new Set((await namedLanes(house.store, word)).map(limiterLaneOf))];
    for (const lane of lanes) {
      await house.store.limitLane(lane, options.reset ? null : change);
      console.logger().info({ lane, limits: options.reset ? null : change }, "lane limited");
    }
    await tellLimiter(house);
    for (const lane of (await listLanes(house, null, lanes)).filter(({ lane: one }) => lanes.includes(one))) {
      if (options.json) console.out(JSON.stringify(lane));
      else console.out(`${lane.lane}: ${describeLimits(lane.limits) || "no limits"}; workers follow within seconds`);
    }
    return exitCodes.ok;
  });
};

/** Workers do so each second; where none runs, the next list shows the new limits all the same. */
async function tellLimiter(house: House): Promise<void> {
  await openLaneCatalog(house.store, house.limiter).refresh();
}

function readLimits(words: readonly string[]): LimitChange {
  const change: { -readonly [Name in keyof LimitChange]: LimitChange[Name] } = {};
  for (const word of words) {
    const [name = "", value = "", ...rest] = word.split("=");
    checkKnown("limit", name, limitNames);
    if (Object.hasOwn(change, name)) throw new UsageError(`${name} is given twice.`);
    if (rest.length > 0 || (value !== "none" && !/^[1-9]\d{0,8}$/.test(value))) {
      throw new UsageError(`${word}: expected a whole number from 1, or none, as in ${name}=50.`);
    }
    change[name as keyof LimitChange] = value === "none" ? null : Number(value);
  }
  return change;
}

function cellsOf({ lane, depth, use, limits }: LaneReport): readonly string[] {
  const share = use?.utilisation ?? null;
  const used = share === null ? "" : `${Math.round(share * 100)} %${use?.binding ? ` of ${use.binding}` : ""}`;
  const counts = [depth.waiting, depth.active, depth.delayed].map(formatCount);
  return [lane, ...counts, describeLimits(limits), describeLimits(use?.effective ?? {}), used];
}

function linesOf({ lane, use, control }: LaneReport): readonly string[] {
  const byOperator = control === null ? [] : describeControl(control);
  if (use?.parked == null || (control?.parked ?? null) !== null) return byOperator;
  const { reason, resumesAtMs } = use.parked;
  const until = resumesAtMs === null ? "until it is resumed" : `until ${new Date(resumesAtMs).toISOString()}`;
  return [
    ...byOperator,
    `${lane} is parked ${until}: ${singleLine(reason)}`,
    `  go on with: hallumaze lanes resume ${lane}`,
  ];
}
