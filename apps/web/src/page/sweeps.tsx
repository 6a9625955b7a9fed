import type { SweepList, SweepSummary } from "@hallumaze/contract";
import { formatMoment, formatUsd, routeAddress, sweepsPath, visibleText } from "@hallumaze/display";
import type { ReactNode } from "react";

import { useApi } from "./api.ts";
import { usePreferences } from "./preferences.tsx";
import { Loaded, StateBar } from "./states.tsx";

/** All sweeps of the ledger, newest first. */
export function SweepsPage(): ReactNode {
  const { t } = usePreferences();
  const query = useApi<SweepList>(sweepsPath);
  return (
    <>
      <h1>{t("sweeps.title")}</h1>
      <Loaded query={query}>
        {({ sweeps }) =>
          sweeps.length === 0 ? (
            <div className="card">
              <p>{t("sweeps.none")}</p>
              <pre>npm start</pre>
            </div>
          ) : (
            <ul className="sweeps">
              {sweeps.toReversed().map((sweep) => (
                <SweepCard key={sweep.name} sweep={sweep} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

function SweepCard({ sweep }: { readonly sweep: SweepSummary }): ReactNode {
  const { t, language } = usePreferences();
  return (
    <li className="card sweep-card">
      <div className="sweep-card-head">
        <h2>
          <a href={routeAddress({ view: "sweep", name: sweep.name, tab: "grid" })}>
            <bdi>{visibleText(sweep.name)}</bdi>
          </a>
        </h2>
        <Badges sweep={sweep} />
      </div>
      <StateBar states={sweep.states} label={t("sweep.progress")} />
      <p className="quiet">
        {formatMoment(new Date(sweep.createdAtMs).toISOString(), language)} ·{" "}
        {sweep.budgetUsd === null
          ? t("money.spent", { spent: formatUsd(Number(sweep.spentUsd), language) })
          : t("money.spentOf", {
              spent: formatUsd(Number(sweep.spentUsd), language),
              budget: formatUsd(Number(sweep.budgetUsd), language),
            })}
      </p>
    </li>
  );
}

/** What holds a sweep, or makes it less than real: paused, cancelled, a rehearsal. */
export function Badges(props: {
  readonly sweep: Pick<SweepSummary, "rehearsal" | "paused" | "cancelledAtMs" | "priority" | "weight">;
}): ReactNode {
  const { t } = usePreferences();
  const { rehearsal, paused, cancelledAtMs, priority, weight } = props.sweep;
  return (
    <span className="badges">
      {rehearsal && <span className="badge">{t("sweep.rehearsal")}</span>}
      {paused !== null && (
        <span className="badge badge-warn">
          {paused.models.length === 0
            ? t("sweep.paused")
            : t("sweep.pausedModels", { models: visibleText(paused.models.join(", ")) })}
        </span>
      )}
      {cancelledAtMs !== null && <span className="badge badge-bad">{t("sweep.cancelled")}</span>}
      {priority !== 0 && <span className="badge">{t("sweep.priority", { priority })}</span>}
      {weight !== 1 && <span className="badge">{t("sweep.weight", { weight })}</span>}
    </span>
  );
}
