import type { LaneDepth, LaneLimits, LaneUse, SweepRecord } from "@hallumaze/engine";
import { limiterLaneOf } from "@hallumaze/judging";
import { singleLine } from "@hallumaze/reports";
import { findDefaultLimits, type House } from "@hallumaze/runtime";
import { knownLanes, type LaneControl, limitsUnder } from "@hallumaze/steering";

/** How a lane stands. */
export interface LaneReport {
  readonly lane: string;
  /** Models of the sweeps that use it. */
  readonly models: readonly string[];
  /** What specs and operators set. */
  readonly limits: LaneLimits;
  readonly depth: LaneDepth;
  /** Null: nobody has used the limiter for it. */
  readonly use: LaneUse | null;
  /** An operator's word; null: none. */
  readonly control: LaneControl | null;
}

/** The lanes of a sweep, or without one all that have work, an operator's word, or are asked for. */
export async function listLanes(
  house: House,
  sweep: SweepRecord | null,
  asked: readonly string[] = [],
): Promise<readonly LaneReport[]> {
  const known = knownLanes(sweep === null ? await house.store.listSweeps() : [sweep], findDefaultLimits);
  const controls = (await house.store.laneControls()).filter(isSaid);
  const open =
    sweep === null ? [...(await house.store.listOpenLanes(null)), ...(await house.store.listOpenJudgeLanes(null))] : [];
  const wanted = new Set([...open.map(({ lane }) => lane), ...controls.map(({ lane }) => lane), ...asked]);
  const lanes = known.filter(({ lane }) => (sweep === null ? wanted.has(lane) : true));
  const uses = new Map(
    (await house.limiter.use(lanes.map(({ lane }) => limiterLaneOf(lane)))).map((use) => [use.lane, use]),
  );
  const reports = await Promise.all(
    lanes.map(async ({ lane, models, limits }): Promise<LaneReport> => {
      const control = controls.find((one) => one.lane === lane) ?? null;
      const use = uses.get(limiterLaneOf(lane)) ?? null;
      const isUsed = use !== null && (use.granted > 0 || use.parked !== null || Object.keys(use.limits).length > 0);
      return {
        lane,
        models,
        limits: limitsUnder(limits, control?.limits ?? {}),
        depth: await house.queue.depth(lane),
        use: isUsed ? use : null,
        control,
      };
    }),
  );
  // A sweep's rehearsal lanes are there only where it is a rehearsal.
  return reports.filter(({ lane, depth, use, control }) => {
    const isIdle = depth.waiting + depth.active + depth.delayed === 0 && use === null && control === null;
    return !(isIdle && lane.startsWith("rehearsal."));
  });
}

function isSaid({ limits, parked }: LaneControl): boolean {
  return parked !== null || Object.keys(limits).length > 0;
}

/** Limits in one line: `rpm 50, concurrency 4`. */
export function describeLimits(limits: LaneLimits): string {
  return Object.entries(limits)
    .map(([name, value]) => `${name} ${Math.round(value as number)}`)
    .join(", ");
}

/** An operator's word on a lane, in lines for people. */
export function describeControl({ lane, limits, parked }: LaneControl): readonly string[] {
  const lines: string[] = [];
  const said = Object.entries(limits).map(([name, value]) => `${name} ${value === null ? "none" : value}`);
  if (said.length > 0) {
    lines.push(
      `${lane}: ${said.join(", ")} by an operator, over every spec; hallumaze lanes limit ${lane} --reset ends it`,
    );
  }
  if (parked !== null) {
    const until = parked.untilMs === null ? "until it is resumed" : `until ${isoTime(parked.untilMs)}`;
    lines.push(
      `${lane} is parked ${until}: ${singleLine(parked.reason)}`,
      `  go on with: hallumaze lanes resume ${lane}`,
    );
  }
  return lines;
}

/** How an operator's word holds a sweep, in lines for people; none where nobody has said anything. */
export function describeSteering(sweep: SweepRecord): readonly string[] {
  const { name, paused, cancelledAtMs, priority, weight } = sweep;
  const lines: string[] = [];
  if (paused !== null) {
    const what = paused.models.length === 0 ? "" : ` (${paused.models.join(", ")})`;
    lines.push(`paused${what} since ${new Date(paused.sinceMs).toISOString()}; go on with: hallumaze resume ${name}`);
  }
  if (cancelledAtMs !== null) {
    lines.push(
      `cancelled ${new Date(cancelledAtMs).toISOString()}; back with: hallumaze retry ${name} --outcome cancelled`,
    );
  }
  if (priority !== 0 || weight !== 1) lines.push(`priority ${priority}, weight ${weight}`);
  return lines;
}

/** A moment of the ledger for people; it may hold later ones than a Date does. */
function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "a time beyond the calendar" : date.toISOString();
}
