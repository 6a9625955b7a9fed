import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import {
  type Allowance,
  type Figure,
  figure,
  fullestChargedMinute,
  makespanFigures,
  promised,
  refusedShare,
} from "./limit-figures.ts";
import { capacityShare } from "./limit-run.ts";
import type { Counted } from "./limit-server.ts";

const bin = fileURLToPath(new URL("../../../apps/cli/bin/hallumaze.js", import.meta.url));

/** Eight lanes of one sweep, requests a real minute each: the slowest needs two and a half minutes, the fastest one less. */
const rpmByModel = {
  "gpt-4o": 60,
  "gpt-4o-mini": 65,
  "gpt-4.1": 70,
  "gpt-4.1-mini": 75,
  "gpt-4.1-nano": 80,
  "gpt-4-turbo": 85,
  "gpt-3.5-turbo": 95,
  "gpt-4o-2024-11-20": 105,
} as const;
const seeds = 150;
const workers = 2;

/**
 * The program itself: a sweep over eight models by two workers through the vendor's SDK, on the rehearsal server that
 * enforces a limit a model and answers as unevenly as the benchmark's own server. Counted there, in real minutes: the
 * program knows no other clock.
 */
export async function measureProgram(redisUrl: string | undefined): Promise<readonly Figure[]> {
  await using stage = await openStage(redisUrl);
  await stage.run(["submit", stage.specFile]);
  for (let count = 0; count < workers; count += 1) {
    stage.start(["worker", "--role", "solve", "--concurrency", "30", "--drain-seconds", "1"]);
  }
  const total = seeds * Object.keys(rpmByModel).length;
  // Twice the ideal and a slow start: a sweep that hangs must not hang the benchmark.
  const patienceMs = 60_000 + (2 * seeds * 60_000) / Math.min(...Object.values(rpmByModel));
  const startMs = performance.now();
  while (performance.now() - startMs < patienceMs) {
    const { completed } = (await stage.ask("counts")) as { readonly completed: number };
    if (completed >= total) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const requests = (await stage.ask("requests")) as readonly LoggedRequest[];
  return judge(requests);
}

interface LoggedRequest {
  readonly model: string | null;
  readonly atMs: number;
  readonly endedAtMs: number | null;
  readonly end: number | string | null;
}

function judge(requests: readonly LoggedRequest[]): readonly Figure[] {
  const startMs = Math.min(...requests.map(({ atMs }) => atMs));
  const lanes = Object.entries(rpmByModel).map(([model, rpm]) => {
    const allowance: Allowance = { unit: "requests", perMinute: rpm, minuteMs: 60_000 };
    const counted = countOf(
      requests.filter((request) => request.model === model),
      startMs,
    );
    // Until its last request is let in the limit binds a lane.
    const untilMinute = (counted.admitted.at(-1)?.atMs ?? 0) / 60_000;
    return { allowance, counted, untilMinute, endMs: counted.completions.at(-1)?.atMs ?? 0 };
  });
  const done = lanes.reduce((sum, { counted }) => sum + counted.completions.length, 0);
  const spans = lanes.map(({ counted, allowance, untilMinute }) => ({
    allowed: allowance.perMinute * (untilMinute - 1),
    completed: between(counted.completions, 1, untilMinute),
    admitted: between(counted.admitted, 1, untilMinute),
  }));
  const sumOf = (name: "allowed" | "completed"): number => spans.reduce((sum, span) => sum + span[name], 0);
  const leastAdmitted = Math.min(...spans.map(({ admitted, allowed }) => admitted / allowed));
  const fullest = Math.max(...lanes.map(({ counted, allowance }) => fullestChargedMinute(counted, allowance)));
  const counted = lanes.map((lane) => lane.counted);
  const name = "limits/ours-program-eight-lanes";
  return [
    figure(`${name}/trials-answered`, done, "", { least: seeds * lanes.length, most: seeds * lanes.length }),
    figure(`${name}/used`, (100 * sumOf("completed")) / sumOf("allowed"), "%", promised.used),
    // Of one lane too few are in flight to count at completion.
    figure(`${name}/least-let-in-of-a-lane`, 100 * leastAdmitted, "%", promised.used),
    figure(`${name}/429`, 100 * refusedShare(counted), "%", promised.refused),
    figure(`${name}/fullest-charged-minute-of-a-lane`, 100 * fullest, "%", promised.fullestMinute),
    ...makespanFigures(name, lanes),
  ];
}

function between(events: readonly { readonly atMs: number }[], from: number, to: number): number {
  return events.filter(({ atMs }) => atMs >= from * 60_000 && atMs <= to * 60_000).length;
}

function countOf(requests: readonly LoggedRequest[], startMs: number): Counted {
  const accepted = requests.filter(({ end }) => end === 200);
  const endOf = ({ atMs, endedAtMs }: LoggedRequest): number => endedAtMs ?? atMs;
  return {
    admitted: accepted.map((one) => ({ atMs: one.atMs - startMs, tokens: 0, takesMs: endOf(one) - one.atMs })),
    completions: accepted
      .map((one) => ({ atMs: endOf(one) - startMs, tokens: 0 }))
      .toSorted((left, right) => left.atMs - right.atMs),
    refusals: requests.filter(({ end }) => end === 429).map(({ atMs }) => atMs - startMs),
  };
}

interface Stage extends AsyncDisposable {
  readonly specFile: string;
  /** A process that ends with the stage. */
  readonly start: (words: readonly string[]) => void;
  readonly run: (words: readonly string[]) => Promise<void>;
  /** Asks the vendors' server what it has seen. */
  readonly ask: (what: "counts" | "requests") => Promise<unknown>;
}

/** A folder with a spec and a database of its own, and the vendors' server in a process of its own. */
async function openStage(redisUrl: string | undefined): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "hallumaze-bench-"));
  // The embedded server may run under an account of its own, which has to pass through.
  await chmod(folder, 0o755);
  const { specFile, configFile } = await writeFiles(folder);
  let variables: NodeJS.ProcessEnv = {
    ...process.env,
    DATABASE_URL: "",
    REDIS_URL: redisUrl ?? "",
    HALLUMAZE_HOME: join(folder, "home"),
    HALLUMAZE_LOG_LEVEL: "error",
  };
  const programs: ChildProcess[] = [];
  const start = (words: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [bin, ...words], {
      cwd: folder,
      env: variables,
      stdio: ["ignore", "pipe", "inherit"],
    });
    programs.push(child);
    return child;
  };
  const vendors = start(["mock-providers", "--config", configFile, "--json"]);
  const { urls, environment } = JSON.parse(await firstLine(vendors)) as {
    readonly urls: { readonly rootUrl: string };
    readonly environment: Readonly<Record<string, string>>;
  };
  variables = { ...variables, ...environment };
  return {
    specFile,
    start: (words) => {
      start(words).stdout?.resume();
    },
    run: async (words) => {
      const child = start(words);
      child.stdout?.resume();
      const code = await ended(child);
      if (code !== 0) throw new Error(`hallumaze ${words.join(" ")} ended with ${code}`);
    },
    ask: async (what) => (await fetch(`${urls.rootUrl}/_control/${what}`)).json(),
    [Symbol.asyncDispose]: async () => {
      // The vendors' server last: a worker that drains may still be answered.
      for (const program of programs.toReversed()) {
        program.kill("SIGTERM");
        await ended(program);
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The spec, and what the vendors' server is to enforce. */
async function writeFiles(folder: string): Promise<{ readonly specFile: string; readonly configFile: string }> {
  const [specFile, configFile] = [join(folder, "eight-lanes.json"), join(folder, "vendors.json")];
  const models = Object.keys(rpmByModel).map((model) => `openai/${model}`);
  const each = <Limits>(limits: (rpm: number) => Limits): Readonly<Record<string, Limits>> =>
    Object.fromEntries(Object.entries(rpmByModel).map(([model, rpm]) => [`openai/${model}`, limits(rpm)]));
  const spec = {
    name: `eight-lanes-${Date.now()}`,
    models,
    limits: each((rpm) => ({ rpm, tpm: 10_000_000 })),
    seeds: [`1..${seeds}`],
    sizes: [5],
    groups: ["A"],
    mirage: [true],
  };
  const config = {
    limits: each((rpm) => ({ rpm, capacityShare })),
    // Four seconds in the mean: what is in flight at the ends of so few minutes would else drown a percent.
    latency: { baseMs: 2_000, perTokenMs: 5 },
    script: [{ reply: { usage: { outputTokens: { median: 290, sigma: 0.8, max: 4_000 } } } }],
    logLimit: 10 * seeds * models.length,
  };
  await writeFile(specFile, JSON.stringify(spec));
  await writeFile(configFile, JSON.stringify(config));
  return { specFile, configFile };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

async function firstLine(child: ChildProcess): Promise<string> {
  let said = "";
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk);
    if (said.includes("\n")) return said.slice(0, said.indexOf("\n"));
  }
  throw new Error(`the vendors' server said ${said}`);
}
