import {
  type AddCommand,
  type Console,
  type ExitCode,
  exitCodes,
  findSweep,
  integerBetween,
  readText,
  UsageError,
  writeWhole,
  judgeExitCode,
  judgeFailureLines,
  pausedLine,
} from "@hallumaze/console";
import { mkdir } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";

import {
  calibrationMarkdown,
  calibrationText,
  confusionChart,
  parseGoldSet,
  promptHash,
  rubricVersion,
} from "@hallumaze/judge";
import { calibrateJudge, measureFitness, requestJudgements, type SweepJudging } from "@hallumaze/judging";
import { formatCount, singleLine } from "@hallumaze/reports";
import {
  checkModel,
  drainDeadlineMs,
  type House,
  judgeModel,
  openHouse,
  startBatchWorker,
  startJudgeWorker,
} from "@hallumaze/runtime";
import { isBatchLane, type JudgeModelSpec, judgesOf, parseStoredSpec, PROVIDERS } from "@hallumaze/sweep";

import { requireKeys } from "../inputs.ts";
import { printLeaderboard, writeResults } from "../results.ts";

interface JudgeOptions {
  readonly model?: string;
  readonly param: Readonly<Record<string, number | string | boolean>>;
  readonly split: "dev" | "test" | "all";
  readonly repeats: number;
  readonly share?: number;
  readonly again: number;
  readonly concurrency: number;
  readonly output: string;
  readonly json?: boolean;
}

/** `judge SWEEP`, `judge calibrate GOLD`, `judge fitness SWEEP`. */
export const addJudgeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("judge")
    .description("judge a sweep's answers, measure a judge on a gold set, or give a sweep's corrected mean level")
    .argument("<what>", "name of a sweep; or `calibrate`, or `fitness`")
    .argument("[file-or-sweep]", "the gold set (JSONL) of `calibrate`, the sweep of `fitness`")
    .option("--model <provider/model>", "the judge; a sweep's own first judge when left out")
    .option(
      "--param <name=value>",
      "a parameter of --model, repeatable, such as errorRate=0.1 of sim/judge",
      paramOf,
      {},
    )
    .option("--split <name>", "of the gold set: dev (for work on prompts), test (counted), all", splitOf, "test")
    .option("--repeats <n>", "judge each item so often", integerBetween(1, 20), 1)
    .option("--share <s>", "judge this share of a sweep's trials, 0 to 1", shareOf)
    .option("--again <n>", "ask anew, for the n-th time, beside what was asked before", integerBetween(0, 1000), 0)
    .option("--concurrency <n>", "judgements at once", integerBetween(1, 1000), 8)
    .option("--output <folder>", "folder for the report", "results")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExample:\n  $ hallumaze judge calibrate examples/gold/maze-levels.jsonl --model sim/judge\n",
    );
  register(command, async (what: string, target: string | undefined, options: JudgeOptions) => {
    if (what === "calibrate") return calibrateCommand(console, target, options);
    if (what === "fitness") return fitnessCommand(console, target, options);
    if (target !== undefined) throw new UsageError(`one name too many: ${target}. Say: hallumaze judge ${what}`);
    return judgeCommand(console, what, options);
  });
};

async function judgeCommand(console: Console, name: string, options: JudgeOptions): Promise<ExitCode> {
  await using house = await openHouse(console.environment(), console.logger(), console.variables);
  const sweep = await findSweep(house.store, name);
  const spec = parseStoredSpec(sweep.specJson);
  const judge = chosenJudge(console, givenJudge(options, spec.judge?.models[0]));
  const judging: SweepJudging = {
    sweepId: sweep.sweepId,
    ...judge,
    promptVersion: "llm-judge-v1",
    share: options.share ?? spec.judge?.share ?? 1,
    repeats: options.repeats,
    generation: options.again,
  };
  const say = options.json ? console.err : console.out;
  if (sweep.paused?.models.length === 0) {
    say(`${pausedLine(sweep)}, then judge again. Nothing was asked.`);
    return exitCodes.failedTrials;
  }
  // To ask for judgements is to take the sweep up again; its cancelled trials stay so.
  if (sweep.cancelledAtMs !== null) await house.store.takeUp(sweep.sweepId);
  const worker = startWorker(console, house, options);
  const inBatches = judgesOf(spec).flatMap(({ lane }) => (isBatchLane(lane) ? [lane] : []));
  const batches = inBatches.length === 0 ? null : startBatches(console, house, inBatches);
  const broken = Promise.race([worker.broken, ...(batches === null ? [] : [batches.broken])]);
  broken.catch(() => undefined);
  try {
    const added = await requestJudgements(house, judging, console.interrupt);
    say(`${sweep.name}: ${formatCount(added)} judgements requested of ${judge.name}`);
    for (;;) {
      const open = (await house.store.listOpenJudgeLanes(sweep.sweepId)).reduce((sum, lane) => sum + lane.open, 0);
      if (open === 0) break;
      if (console.interrupt.aborted) {
        say(`Interrupted with ${open} open: what is judged is kept. The same command goes on.`);
        return exitCodes.interrupted;
      }
      await Promise.race([new Promise((done) => setTimeout(done, 300)), broken]);
    }
  } finally {
    const drainMs = console.interrupt.aborted ? drainDeadlineMs(console.environment()) : 30_000;
    await Promise.all([worker.drain(drainMs), batches?.drain(drainMs)]);
  }
  const progress = await house.store.judgeProgress(sweep.sweepId);
  const files = await writeResults(console, house.store, sweep, options.output);
  if (options.json) console.out(JSON.stringify({ sweep: sweep.name, ...progress, models: files.rows }));
  else printLeaderboard(console, files);
  for (const line of judgeFailureLines(progress, sweep.name)) say(line);
  return judgeExitCode(progress);
}

async function calibrateCommand(console: Console, path: string | undefined, options: JudgeOptions): Promise<ExitCode> {
  if (path === undefined) throw new UsageError("name the gold set: hallumaze judge calibrate GOLD.jsonl --model M");
  const goldSet = parseGoldSet(await readText(console, path));
  if (goldSet.problems.length > 0) {
    throw new UsageError(
      goldSet.problems
        .map(({ line, message }) => `${path}${line === null ? "" : `:${line}`}: ${singleLine(message)}`)
        .join("\n"),
    );
  }
  for (const { message } of goldSet.warnings) console.err(`warning: ${message}`);
  const judge = chosenJudge(console, givenJudge(options, undefined));
  await using house = await openHouse(console.environment(), console.logger(), console.variables);
  const worker = startWorker(console, house, options);
  const say = options.json ? console.err : console.out;
  try {
    const wish = {
      ...judge,
      goldSet,
      promptVersion: "llm-judge-v1" as const,
      split: options.split,
      repeats: options.repeats,
      generation: options.again,
    };
    const outcome = await Promise.race([calibrateJudge(house, wish, console.interrupt), worker.broken]);
    if (outcome.kind === "interrupted") return exitCodes.interrupted;
    if (outcome.kind === "incomplete") {
      say(`${outcome.missing} judgements are missing, so nothing is measured: ${outcome.firstMessage}`);
      say("The same command goes on where it stopped.");
      return exitCodes.failedTrials;
    }
    const { report, gate, costUsd } = outcome;
    const folder = resolve(console.workingFolder, options.output, "calibration", basename(path, extname(path)));
    await mkdir(folder, { recursive: true });
    await writeWhole(join(folder, "report.md"), [`${calibrationMarkdown(report, gate)}\n`]);
    await writeWhole(join(folder, "report.json"), [`${JSON.stringify({ ...report, gate, costUsd }, null, 2)}\n`]);
    const chart = confusionChart(report);
    await writeWhole(join(folder, "confusion.vl.json"), [`${JSON.stringify(chart, null, 2)}\n`]);
    await writeWhole(join(folder, "confusion.svg"), [await drawChart(chart)]);
    if (options.json) console.out(JSON.stringify({ ...report, gate, costUsd }));
    else console.out(calibrationText(report, gate));
    say(`cost: ${costUsd === null ? "unknown" : `$${costUsd.toFixed(4)}`}; files in ${folder}`);
    return gate.open ? exitCodes.ok : exitCodes.refused;
  } finally {
    await worker.drain(console.interrupt.aborted ? drainDeadlineMs(console.environment()) : 30_000);
  }
}

async function fitnessCommand(console: Console, name: string | undefined, options: JudgeOptions): Promise<ExitCode> {
  if (name === undefined) throw new UsageError("name the sweep: hallumaze judge fitness SWEEP");
  await using house = await openHouse(console.environment(), console.logger(), console.variables);
  const sweep = await findSweep(house.store, name);
  const spec = parseStoredSpec(sweep.specJson);
  const judge = chosenJudge(console, givenJudge(options, spec.judge?.models[0]));
  const identity = {
    judgeModel: judge.name,
    promptVersion: "llm-judge-v1" as const,
    promptHash: promptHash("llm-judge-v1"),
    rubricVersion,
  };
  const fitness = await measureFitness(
    house.store,
    {
      judge: identity,
      consensus: { consensusBelow: spec.judge?.consensusBelow ?? 0.6, repeats: spec.judge?.repeats ?? 1 },
      scope: { kind: "sweep", sweepId: sweep.sweepId },
      samePopulation: false,
    },
    console.interrupt,
  );
  if (fitness.kind === "unknown") throw new UsageError(`no such results: ${fitness.resultIds.join(", ")}`);
  if (options.json) console.out(JSON.stringify({ sweep: sweep.name, judge: judge.name, ...fitness }));
  else if (fitness.kind === "refused") {
    console.err(`refused: ${fitness.message}`);
    console.err(`measure the judge with: hallumaze judge calibrate GOLD.jsonl --model ${judge.name}`);
  } else {
    const interval =
      fitness.lo === null || fitness.hi === null ? "" : ` [${fitness.lo.toFixed(2)}, ${fitness.hi.toFixed(2)}]`;
    console.out(
      `${sweep.name}: corrected mean level ${fitness.mean.toFixed(2)}${interval}, n ${fitness.n}; judge's own ${fitness.judgeMean.toFixed(2)}`,
    );
  }
  return fitness.kind === "refused" ? exitCodes.refused : exitCodes.ok;
}

/** Draws a vega-lite specification as SVG. The libraries are loaded here, for no other command needs them. */
async function drawChart(chart: object): Promise<string> {
  const [{ compile }, { parse, View }] = await Promise.all([import("vega-lite"), import("vega")]);
  return new View(parse(compile(chart as Parameters<typeof compile>[0]).spec), { renderer: "none" }).toSVG();
}

function startWorker(console: Console, house: House, options: JudgeOptions) {
  return startJudgeWorker({
    store: house.store,
    queue: house.queue,
    provider: house.judgeProvider,
    limiter: house.limiter,
    rehearsal: false,
    logger: console.logger(),
    concurrency: options.concurrency,
  });
}

/** Asks the sweep's judges that are asked in batches, and lands what is under way. */
function startBatches(console: Console, house: House, lanes: readonly string[]) {
  return startBatchWorker({
    store: house.store,
    queue: house.queue,
    vendor: house.batches,
    limiter: house.limiter,
    rehearsal: false,
    logger: console.logger(),
    lanes,
    repairs: false,
  });
}

/** The judge that a name or a spec's entry stands for, with its lane; its key has to be there before anything is sent. */
export function chosenJudge(console: Console, entry: string | JudgeModelSpec | undefined) {
  if (entry === undefined) {
    throw new UsageError("name the judge: --model provider/model, for example --model sim/judge.");
  }
  const name = typeof entry === "string" ? entry : entry.model;
  const [judge] = judgesOf({ judge: { models: [entry], share: 1, consensusBelow: 0.6, repeats: 1 } });
  if (judge === undefined || !PROVIDERS.some((known) => known === judge.provider) || judge.model === "") {
    throw new UsageError(`"${name}" is no provider/model; providers are ${PROVIDERS.join(", ")}.`);
  }
  const model = judgeModel(judge, console.now());
  const today = new Date(console.now()).toISOString().slice(0, 10);
  const { issues } = checkModel({ ...model, temperatureExplicit: false }, today);
  for (const issue of issues) console.err(`warning: ${name}: ${issue.message}`);
  requireKeys(console, { models: [model] });
  return { judge: model, lane: judge.lane, name };
}

/** The judge of the command line, with its parameters; else the sweep's own first one. */
function givenJudge({ model, param }: JudgeOptions, own: string | JudgeModelSpec | undefined) {
  return model === undefined ? own : { model, params: param };
}

/** Reads `name=value`; a number or a boolean is one. */
function paramOf(word: string, before: JudgeOptions["param"]): JudgeOptions["param"] {
  const at = word.indexOf("=");
  if (at < 1) throw new UsageError(`a parameter is name=value; got "${word}".`);
  const value = word.slice(at + 1);
  const read =
    value === "true"
      ? true
      : value === "false"
        ? false
        : value !== "" && Number.isFinite(Number(value))
          ? Number(value)
          : value;
  return { ...before, [word.slice(0, at)]: read };
}

function splitOf(word: string): JudgeOptions["split"] {
  if (word === "dev" || word === "test" || word === "all") return word;
  throw new UsageError(`unknown split "${word}". Splits: dev, test, all.`);
}

function shareOf(word: string): number {
  const share = Number(word);
  if (!(share >= 0 && share <= 1)) throw new UsageError(`a share is a number from 0 to 1; got "${word}".`);
  return share;
}
