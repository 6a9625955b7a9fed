import type { SweepView } from "@hallumaze/contract";
import {
  formatCount,
  formatDuration,
  formatShare,
  formatUsd,
  routeAddress,
  sweepPath,
  type SweepTab,
  sweepTabs,
  visibleText,
} from "@hallumaze/display";
import * as Tabs from "@radix-ui/react-tabs";
import type { ReactNode } from "react";

import { shownSnapshot, useApi } from "./api.ts";
import { ExperimentsTab } from "./experiments.tsx";
import { GridTab } from "./grid.tsx";
import { LeaderboardTab } from "./leaderboard.tsx";
import { usePreferences } from "./preferences.tsx";
import { Fact, Loaded, StateBar } from "./states.tsx";
import { FailuresTab, LanesTab, useSteering } from "./sweep-work.tsx";
import { Badges } from "./sweeps.tsx";

/** One sweep: how it stands, what can be done to it, and its parts as tabs. */
export function SweepPage({ name, tab }: { readonly name: string; readonly tab: SweepTab }): ReactNode {
  const query = useApi<SweepView>(sweepPath(name));
  return <Loaded query={query}>{(sweep) => <Sweep sweep={sweep} tab={tab} />}</Loaded>;
}

function Sweep({ sweep, tab }: { readonly sweep: SweepView; readonly tab: SweepTab }): ReactNode {
  const { t, language } = usePreferences();
  const { name } = sweep;
  const isOpen = hasOpenTrials(sweep);
  const failed = sweep.failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <div className="sweep-head">
        <h1>
          <bdi>{visibleText(name)}</bdi>
        </h1>
        <Badges sweep={sweep} />
        {shownSnapshot() === null && (isOpen || sweep.paused !== null) && <Steering sweep={sweep} />}
      </div>
      <section className="card overview" aria-label={t("sweep.progress")}>
        <StateBar states={sweep.states} label={t("sweep.progress")} />
        <dl className="facts">
          <Fact name={t("sweep.eta")}>{isOpen ? formatDuration(sweep.etaMs, language) : t("sweep.ended")}</Fact>
          <Fact name={t("money.spentWord")}>
            <Money sweep={sweep} />
          </Fact>
          <Fact name={t("money.open")}>
            {formatCount(sweep.money.open.count, language)} ·{" "}
            {t("money.atMost", { usd: formatUsd(Number(sweep.money.open.boundUsd), language) })}
          </Fact>
          {sweep.money.lost.count > 0 && (
            <Fact name={t("money.lost")}>
              {formatCount(sweep.money.lost.count, language)} ·{" "}
              {t("money.atMost", { usd: formatUsd(Number(sweep.money.lost.boundUsd), language) })}
            </Fact>
          )}
          {sweep.leftGrid > 0 && <Fact name={t("sweep.leftGrid")}>{formatCount(sweep.leftGrid, language)}</Fact>}
          {sweep.lateDuplicates > 0 && (
            <Fact name={t("sweep.late")}>{formatCount(sweep.lateDuplicates, language)}</Fact>
          )}
        </dl>
        <Findings sweep={sweep} />
      </section>
      <Tabs.Root
        value={tab}
        onValueChange={(value) => {
          const chosen = sweepTabs.find((known) => known === value);
          if (chosen !== undefined) location.hash = routeAddress({ view: "sweep", name, tab: chosen });
        }}
      >
        <Tabs.List className="tabs" aria-label={t("sweep.parts")}>
          {sweepTabs.map((each) => (
            <Tabs.Trigger key={each} value={each}>
              {t(`tab.${each}`)}
              {each === "failures" && failed > 0 && <small className="count"> {formatCount(failed, language)}</small>}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="grid">
          <GridTab name={name} />
        </Tabs.Content>
        <Tabs.Content value="leaderboard">
          <LeaderboardTab name={name} />
        </Tabs.Content>
        <Tabs.Content value="failures">
          <FailuresTab sweep={sweep} />
        </Tabs.Content>
        <Tabs.Content value="lanes">
          <LanesTab sweep={sweep} />
        </Tabs.Content>
        <Tabs.Content value="experiments">
          <ExperimentsTab name={name} />
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}

/** Whether anything is left to be done or decided. */
function hasOpenTrials({ states }: SweepView): boolean {
  return states.planned + states.queued + states.running + states.blocked > 0;
}

/** What was spent against the budget, as words and a bar. */
function Money({ sweep }: { readonly sweep: SweepView }): ReactNode {
  const { t, language } = usePreferences();
  const spent = Number(sweep.money.spentUsd);
  const budget = sweep.money.budgetUsd === null ? null : Number(sweep.money.budgetUsd);
  if (budget === null) return <>{formatUsd(spent, language)}</>;
  const share = budget === 0 ? 1 : spent / budget;
  const told = t("money.spentOf", { spent: formatUsd(spent, language), budget: formatUsd(budget, language) });
  return (
    <>
      {told} <small>{formatShare(share, language)}</small>
      <meter className="meter" value={Math.min(1, share)} min={0} max={1} high={0.9} aria-label={told} />
    </>
  );
}

function Findings({ sweep }: { readonly sweep: SweepView }): ReactNode {
  const { t } = usePreferences();
  if (sweep.findings.length === 0) return null;
  return (
    <details className="findings">
      <summary>
        {t("findings.title", { n: sweep.findings.length })}
        {sweep.findingsScope !== null && <small> {sweep.findingsScope}</small>}
      </summary>
      <ul>
        {sweep.findings.map((finding, at) => (
          <li key={at} className={`finding finding-${finding.severity}`}>
            {visibleText(finding.message)} <i>{visibleText(finding.advice)}</i>{" "}
            {finding.examples.slice(0, 3).map((id) => (
              <a key={id} href={routeAddress({ view: "trial", id, beside: null, sweep: sweep.name })}>
                {id.slice(0, 8)}
              </a>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Steering({ sweep }: { readonly sweep: SweepView }): ReactNode {
  const { t } = usePreferences();
  const steer = useSteering(sweep.name);
  const ask = (verb: "pause" | "resume" | "cancel") =>
    steer(
      verb,
      {},
      {
        title: t(`steer.${verb}Title`, { name: visibleText(sweep.name) }),
        body: t(`steer.${verb}Body`),
        action: t(`steer.${verb}`),
        grave: verb === "cancel",
      },
    );
  const parked = sweep.lanes.some(({ use }) => use?.parked != null);
  return (
    <div className="buttons steering">
      {sweep.paused === null && (
        <button type="button" onClick={() => void ask("pause")}>
          {t("steer.pause")}
        </button>
      )}
      {(sweep.paused !== null || parked) && (
        <button type="button" className="main" onClick={() => void ask("resume")}>
          {t("steer.resume")}
        </button>
      )}
      {sweep.cancelledAtMs === null && (
        <button type="button" className="grave" onClick={() => void ask("cancel")}>
          {t("steer.cancel")}
        </button>
      )}
    </div>
  );
}
