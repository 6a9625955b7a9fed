import type { Figures, LaneFigures, TrialGroup } from "./figures.ts";

/** What people are told of. */
export type AlertKind = "done" | "parked" | "budget" | "failing";

/** Whether something that people want to know stands now. */
export interface Condition {
  readonly kind: AlertKind;
  /** A sweep's id, or a lane. */
  readonly subject: string;
  readonly stands: boolean;
  /** Differs between two occurrences even where the state between them was not seen. */
  readonly marker: string;
  /** Names, counts and outcomes; never a prompt, a reply or a provider's words. */
  readonly facts: Readonly<Record<string, string | number | null>>;
}

/** When a condition stands. */
export interface ConditionSettings {
  /** Share of failed trials among those that have ended, 0 to 1. */
  readonly failureShare: number;
  /** How long ago the last trial must have ended: judges are asked a moment later. */
  readonly settleMs: number;
}

/** Before so many trials have ended a share says little. */
const endedAtLeast = 10;
/** What was over before is no news to whoever begins to listen. */
const newsMs = 3_600_000;

/** Says of every sweep and lane what stands; of a lane whose limiter does not answer, nothing. Pure. */
export function findConditions(figures: Figures, settings: ConditionSettings): readonly Condition[] {
  return [
    ...figures.ledger.sweeps.flatMap((sweep) => conditionsOfSweep(figures, sweep, settings)),
    ...figures.lanes.filter(({ role }) => role === "solve").flatMap(conditionOfLane),
  ];
}

function conditionsOfSweep(
  { ledger }: Figures,
  { sweep, sweepId, budgetUsd, spentUsd, lastFinishedAtMs }: Figures["ledger"]["sweeps"][number],
  { failureShare, settleMs }: ConditionSettings,
): readonly Condition[] {
  const trials = ledger.trials.filter((group) => group.sweepId === sweepId);
  const judges = ledger.judges.filter((group) => group.sweepId === sweepId);
  const [done, failed, blocked] = [countOf(trials, "done"), countOf(trials, "failed"), countOf(trials, "blocked")];
  const last = lastFinishedAtMs ?? 0;
  const isOver = trials.length > 0 && blocked === 0 && !trials.some(isOpen) && !judges.some(isOpen);
  const isNews = ledger.atMs - last >= settleMs && ledger.atMs - last < newsMs;
  const budgetBlocked = trials
    .filter(({ state, outcome }) => state === "blocked" && outcome === "budget_blocked")
    .reduce((sum, { count }) => sum + count, 0);
  const share = done + failed < endedAtLeast ? 0 : failed / (done + failed);
  const facts = { sweep, sweepId, done, failed, blocked, spentUsd };
  return [
    // A sweep whose end is old, or only just reached, neither raises nor lowers.
    ...(isOver && !isNews
      ? []
      : [{ kind: "done" as const, subject: sweepId, stands: isOver, marker: String(Math.round(last)), facts }]),
    {
      kind: "budget",
      subject: sweepId,
      stands: budgetBlocked > 0,
      marker: String(budgetUsd),
      facts: { ...facts, budgetUsd, budgetBlocked },
    },
    {
      kind: "failing",
      subject: sweepId,
      stands: share > 0 && share >= failureShare,
      marker: "",
      facts: { ...facts, share: Math.round(share * 1000) / 1000, threshold: failureShare },
    },
  ];
}

function conditionOfLane({ lane, use }: LaneFigures): readonly Condition[] {
  if (use === null) return [];
  const { parked } = use;
  const facts = {
    lane,
    // Its first word is an outcome of ours; what follows is what the vendor said.
    outcome: /^[a-z_]{1,40}(?=:|$)/.exec(parked?.reason ?? "")?.[0] ?? null,
    resumesAtMs: parked?.resumesAtMs ?? null,
  };
  return [{ kind: "parked", subject: lane, stands: parked !== null, marker: String(parked?.sinceMs ?? ""), facts }];
}

function isOpen({ state }: { readonly state: TrialGroup["state"] }): boolean {
  return state === "planned" || state === "queued" || state === "running";
}

function countOf(groups: readonly TrialGroup[], state: TrialGroup["state"]): number {
  return groups.filter((group) => group.state === state).reduce((sum, { count }) => sum + count, 0);
}
