import {
  type Allowance,
  type Figure,
  figure,
  fullestMinute,
  promised,
  refusedShare,
  secondsToFollow,
  steadyFigures,
  utilisation,
} from "./limit-figures.ts";
import { measureEightLanes } from "./eight-lanes.ts";
import { type LaneRun, runAgainstServer } from "./limit-run.ts";
import type { Counted } from "./limit-server.ts";
import type { Pacing } from "./limit-worker.ts";
import { measureOperations } from "./limit-operations.ts";
import { measureOthers } from "./other-limiters.ts";
import { measureProgram } from "./program-lanes.ts";
import { allowances, type Binding, bindings, minuteMs, newLane, steadyLane } from "./steady-lane.ts";

interface Servers {
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
}

/**
 * Share of the limit used, 429s and the fullest minute on an enforcing server, beside what others reach on it; what a
 * changed limit and an outside tenant do; eight lanes at once; and the program itself. About a quarter of an hour;
 * with `HALLUMAZE_BENCH_QUICK=1` shorter runs and neither Postgres nor the program, in under three minutes.
 */
export async function bench(servers: Servers): Promise<readonly Figure[]> {
  const { redisUrl, databaseUrl } = servers;
  const url = redisUrl ?? databaseUrl;
  if (url === undefined) return [];
  const isQuick = process.env["HALLUMAZE_BENCH_QUICK"] === "1";
  const figures: Figure[] = [];
  for (const part of isQuick ? quickParts(url, redisUrl) : allParts(url, servers)) {
    const measured = await part();
    // Told at once: what a run that is broken off has measured is not lost.
    for (const { name, value, unit, holds, load } of measured) {
      const verdict = holds === undefined ? "" : holds ? ", holds" : ", DOES NOT HOLD";
      process.stderr.write(`  ${name} ${value.toPrecision(4)} ${unit}${verdict} (load ${load.toFixed(1)})\n`);
    }
    figures.push(...measured);
  }
  return figures;
}

type Part = () => Promise<readonly Figure[]>;

function allParts(url: string, { redisUrl, databaseUrl }: Servers): readonly Part[] {
  const backEnds = [
    ["redis", redisUrl, 5],
    ["postgres", databaseUrl, 3],
  ] as const;
  return [
    ...backEnds.flatMap(([backEnd, at, minutes]) =>
      at === undefined
        ? []
        : [
            ...bindings.flatMap((binding) =>
              [1, 4].map(
                (processes): Part =>
                  () =>
                    measureSteady(backEnd, at, binding, processes, minutes),
              ),
            ),
            (): Promise<readonly Figure[]> => measureOperations(`limits/ours-on-${backEnd}`, at),
          ],
    ),
    () =>
      together(
        (["ours", "ours-without-headers"] as const).flatMap((pacing) => [
          measureChanged(pacing, url, 1.5),
          measureShared(pacing, url, 4),
        ]),
      ),
    () => measureEightLanes(url, ["ours"], 5),
    () => measureEightLanes(url, ["bottleneck", "p-queue"], 5),
    ...bindings.flatMap((binding) => measureOthers(binding, redisUrl, 2.5)),
    () => measureProgram(redisUrl),
  ];
}

function quickParts(url: string, redisUrl: string | undefined): readonly Part[] {
  const backEnd = url.startsWith("redis") ? "redis" : "postgres";
  return [
    ...bindings.map(
      (binding): Part =>
        () =>
          measureSteady(backEnd, url, binding, 4, 2),
    ),
    () => together([measureChanged("ours", url, 1), measureShared("ours", url, 3)]),
    () => measureEightLanes(url, ["ours"], 4),
    ...bindings.map(
      (binding): Part =>
        () =>
          together(measureOthers(binding, redisUrl, 2).map((part) => part())),
    ),
  ];
}

async function together(parts: readonly Promise<readonly Figure[]>[]): Promise<readonly Figure[]> {
  return (await Promise.all(parts)).flat();
}

async function measureSteady(
  backEnd: string,
  url: string,
  binding: Binding,
  processes: number,
  minutes: number,
): Promise<readonly Figure[]> {
  const lanes = [steadyLane(binding)];
  const [counted] = await runAgainstServer({ pacing: "ours", url, lanes, processes, minuteMs, minutes });
  const name = `limits/ours-on-${backEnd}/${binding}/${processes}-process`;
  return counted === undefined ? [] : steadyFigures(name, counted, allowances[binding], minutes);
}

type Own = Extract<Pacing, `ours${string}`>;

/**
 * The limit halves, and is restored, after `span` minutes each. Without headers only 429s tell, and go on telling while the
 * lane tries whether more is let in: of what it sends nothing is promised then, of what it uses all.
 */
async function measureChanged(pacing: Own, url: string, span: number): Promise<readonly Figure[]> {
  const { perMinute } = allowances.rpm;
  const [whole, half] = [allowances.rpm, { ...allowances.rpm, perMinute: perMinute / 2 }];
  const [halvedAt, restoredAt, end] = [span, 2 * span, 3 * span];
  const counted = await disturb(pacing, url, end, [
    { atMinute: halvedAt, limits: { rpm: perMinute / 2 } },
    { atMinute: restoredAt, limits: { rpm: perMinute } },
  ]);
  const name = `limits/${pacing}`;
  const usedFrom = (allowance: Allowance, from: number, to: number): number =>
    100 * utilisation(counted, allowance, from, to);
  const halvedSeconds = secondsToFollow(counted, half, { from: halvedAt, to: restoredAt }, { most: 105 });
  const restoredSeconds = secondsToFollow(counted, whole, { from: restoredAt, to: end }, { least: 97 });
  return [
    figure(`${name}/halved/followed-after`, halvedSeconds, "s", isTold(pacing) ? promised.followSeconds : undefined),
    figure(`${name}/halved/used-from-30s-on`, usedFrom(half, halvedAt + 0.5, restoredAt), "%", promised.used),
    figure(`${name}/restored/followed-after`, restoredSeconds, "s", promised.followSeconds),
    figure(`${name}/restored/used-from-30s-on`, usedFrom(whole, restoredAt + 0.5, end), "%", promised.used),
    refusals(pacing, `${name}/halved/429-from-30s-on`, refusedBetween(counted, halvedAt + 0.5, restoredAt)),
    refusals(pacing, `${name}/halved-and-restored/429`, refusedShare([counted])),
  ];
}

/** Somebody else takes 40 % of the refill from minute 1 on. */
async function measureShared(pacing: Own, url: string, minutes: number): Promise<readonly Figure[]> {
  const { perMinute } = allowances.rpm;
  const rest = { ...allowances.rpm, perMinute: perMinute * 0.6 };
  const counted = await disturb(pacing, url, minutes, [
    { atMinute: 1, limits: { rpm: perMinute, takenByOthers: 0.4 } },
  ]);
  const name = `limits/${pacing}/others-take-40%`;
  return [
    figure(`${name}/used-of-the-rest`, 100 * utilisation(counted, rest, 2, minutes), "%", promised.used),
    figure(`${name}/fullest-minute`, 100 * fullestMinute(counted, allowances.rpm), "%", promised.fullestMinute),
    refusals(pacing, `${name}/429`, refusedShare([counted])),
  ];
}

function refusedBetween({ completions, refusals }: Counted, from: number, to: number): number {
  const isWithin = (atMs: number): boolean => atMs >= from * minuteMs && atMs < to * minuteMs;
  return refusedShare([
    { completions: completions.filter(({ atMs }) => isWithin(atMs)), refusals: refusals.filter(isWithin) },
  ]);
}

function refusals(pacing: Own, name: string, share: number): Figure {
  return figure(name, 100 * share, "%", isTold(pacing) ? promised.refused : undefined);
}

function isTold(pacing: Own): boolean {
  return pacing === "ours";
}

async function disturb(pacing: Own, url: string, minutes: number, changes: NonNullable<LaneRun["changes"]>) {
  const lanes = [{ ...steadyLane("rpm"), lane: newLane(), changes }];
  const [counted] = await runAgainstServer({ pacing, url, lanes, processes: 2, minuteMs, minutes });
  if (counted === undefined) throw new Error("a run without its lane");
  return counted;
}
