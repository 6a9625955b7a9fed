import type { GridView } from "@hallumaze/contract";
import {
  countStates,
  formatCount,
  formatNumber,
  gridMetrics,
  gridPath,
  layOutGrid,
  meanOf,
  routeAddress,
  stateSigns,
  trialsOfRow,
  valueColours,
  visibleText,
} from "@hallumaze/display";
import { type ReactNode, useMemo, useState } from "react";

import { shownSnapshot, useApi } from "./api.ts";
import { HeatMap } from "./heat-map.tsx";
import { usePreferences } from "./preferences.tsx";
import { Loaded, stateFill, StateBar, Swatch } from "./states.tsx";

/** The grid of a sweep as a heat map, with the same in a table. */
export function GridTab({ name }: { readonly name: string }): ReactNode {
  const { t, word } = usePreferences();
  const snapshot = shownSnapshot();
  const offered = gridMetrics.filter((each) => snapshot === null || gridPath(name, each) in snapshot.replies);
  const [metric, setMetric] = useState<string>("state");
  const query = useApi<GridView>(gridPath(name, metric));
  return (
    <section className="card">
      <div className="row">
        <label className="inline">
          {t("grid.colour")}
          <select value={metric} onChange={(event) => setMetric(event.currentTarget.value)}>
            {offered.map((each) => (
              <option key={each} value={each}>
                {each === "state" ? t("grid.state") : metricName(each, word)}
              </option>
            ))}
          </select>
        </label>
        {query.data !== undefined && <GridLegend grid={query.data} />}
      </div>
      <Loaded query={query}>{(grid) => <Grid name={name} grid={grid} />}</Loaded>
    </section>
  );
}

function metricName(metric: string, word: (set: string, name: string) => string): string {
  const [profile = "", name = ""] = metric.split(".");
  return `${name.toUpperCase()} · ${word("profile", profile)}`;
}

function Grid({ name, grid }: { readonly name: string; readonly grid: GridView }): ReactNode {
  const { t, word, language } = usePreferences();
  const layout = useMemo(() => layOutGrid(grid.cells, grid.seeds.length), [grid]);
  const conditionTexts = useMemo(
    () =>
      grid.conditions.map((condition) =>
        [
          `${condition.size}×${condition.size}`,
          condition.group,
          condition.mirage ? t("mirage.on") : t("mirage.off"),
          word("language", condition.language),
          ...(condition.confidence ? [] : [t("grid.noConfidence")]),
          ...(condition.repeat > 0 ? [t("grid.repeat", { n: condition.repeat + 1 })] : []),
        ].join(" "),
      ),
    [grid, t, word],
  );
  if (grid.cells.trialId.length === 0) return <p className="quiet">{t("grid.none")}</p>;
  return (
    <>
      {grid.truncated && <p className="notice">{t("grid.truncated", { n: grid.cells.trialId.length })}</p>}
      <HeatMap
        grid={grid}
        layout={layout}
        conditionTexts={conditionTexts}
        onOpen={(trial) => {
          const id = grid.cells.trialId[trial];
          if (id !== undefined) location.hash = routeAddress({ view: "trial", id, beside: null, sweep: name });
        }}
      />
      <details>
        <summary>{t("grid.table")}</summary>
        <div className="scroll tall" tabIndex={0} role="region" aria-label={t("grid.table")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("models.model")}</th>
                <th scope="col">{t("grid.condition")}</th>
                <th scope="col">{t("models.progress")}</th>
                {grid.states.map((state) => (
                  <th key={state} scope="col" className="number">
                    {word("state", state)}
                  </th>
                ))}
                {grid.metric !== "state" && (
                  <th scope="col" className="number">
                    {t("grid.mean", { metric: metricName(grid.metric, word) })}
                  </th>
                )}
                <th scope="col">{t("grid.first")}</th>
              </tr>
            </thead>
            <tbody>
              {layout.rows.map(({ model, condition }, row) => {
                const trials = trialsOfRow(layout, row);
                const counts = countStates(trials, grid.cells.state, grid.states.length);
                const { mean, n } = meanOf(trials, grid.cells.value);
                const first = grid.cells.trialId[trials[0] ?? -1];
                const modelText = visibleText(grid.models[model] ?? "");
                return (
                  <tr key={`${model} ${condition}`}>
                    <th scope="row">
                      <bdi>{modelText}</bdi>
                    </th>
                    <td>{conditionTexts[condition]}</td>
                    <td>
                      <StateBar
                        compact
                        label={`${modelText} ${conditionTexts[condition]}`}
                        states={Object.fromEntries(grid.states.map((state, at) => [state, counts[at]]))}
                      />
                    </td>
                    {counts.map((count, at) => (
                      <td key={at} className="number">
                        {formatCount(count, language)}
                      </td>
                    ))}
                    {grid.metric !== "state" && (
                      <td className="number">
                        {formatNumber(mean, 3, language)} <small>n={formatCount(n, language)}</small>
                      </td>
                    )}
                    <td>
                      {first !== undefined && (
                        <a href={routeAddress({ view: "trial", id: first, beside: null, sweep: name })}>
                          {t("grid.open")}
                        </a>
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

function GridLegend({ grid }: { readonly grid: GridView }): ReactNode {
  const { t, word, theme, language } = usePreferences();
  if (grid.metric === "state") {
    return (
      <ul className="legend">
        {grid.states.map((state) => (
          <li key={state}>
            <Swatch colour={stateFill(state, theme)} sign={stateSigns[state] ?? ""} /> {word("state", state)}
          </li>
        ))}
      </ul>
    );
  }
  if (grid.range === null) return <span className="quiet">{t("grid.noValues")}</span>;
  const { lo, hi, better } = grid.range;
  return (
    <span className="scale">
      {formatNumber(lo, lo % 1 === 0 ? 0 : 2, language)}
      <svg viewBox={`0 0 ${valueColours.length * 10} 10`} aria-hidden="true" focusable="false">
        {valueColours.map((colour, at) => (
          <rect key={colour} x={at * 10} width="10.5" height="10" fill={colour} />
        ))}
      </svg>
      {formatNumber(hi, hi % 1 === 0 ? 0 : 2, language)} <small>{t(`better.${better}`)}</small>
    </span>
  );
}
