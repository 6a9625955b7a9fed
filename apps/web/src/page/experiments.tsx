import type { ExperimentList, ExperimentView, ResultTableView } from "@hallumaze/contract";
import {
  experimentPath,
  experimentsPath,
  figurePath,
  formatCount,
  formatNumber,
  formatShare,
  type PageLanguage,
  tablePath,
  unknown,
  visibleText,
} from "@hallumaze/display";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { download, shownSnapshot, useApi } from "./api.ts";
import { useDialogs } from "./dialogs.tsx";
import { usePreferences } from "./preferences.tsx";
import { Loaded, Loading } from "./states.tsx";

/** The report's experiments on a sweep as it stands now: what they say, their figures and tables, to look at and to take. */
export function ExperimentsTab({ name }: { readonly name: string }): ReactNode {
  const { t } = usePreferences();
  const query = useApi<ExperimentList>(experimentsPath(name));
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Loaded query={query}>
      {({ experiments }) => {
        const ready = experiments.filter(({ whyNot }) => whyNot === null);
        const shown = ready.find(({ experiment }) => experiment === chosen) ?? ready[0];
        const lacking = experiments.filter(({ whyNot }) => whyNot !== null);
        return (
          <div className="experiments">
            <nav className="card" aria-label={t("experiments.list")}>
              <ul>
                {ready.map(({ experiment, title }) => (
                  <li key={experiment}>
                    <button
                      type="button"
                      aria-pressed={experiment === shown?.experiment}
                      onClick={() => setChosen(experiment)}
                    >
                      {title}
                    </button>
                  </li>
                ))}
              </ul>
              {lacking.length > 0 && (
                <details>
                  <summary>{t("experiments.lacking", { n: lacking.length })}</summary>
                  <ul>
                    {lacking.map(({ experiment, title, whyNot }) => (
                      <li key={experiment}>
                        {title}: <small>{whyNot}</small>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
            </nav>
            {shown === undefined ? (
              <p className="card quiet">{t("experiments.none")}</p>
            ) : (
              <Experiment key={shown.experiment} experiment={shown.experiment} sweep={name} />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function Experiment(props: { readonly experiment: string; readonly sweep: string }): ReactNode {
  const { experiment: name, sweep } = props;
  const { t, language } = usePreferences();
  const query = useApi<ExperimentView>(experimentPath(sweep, name));
  return (
    <Loaded query={query}>
      {(experiment) => (
        <section className="card experiment" aria-labelledby="experiment-title">
          <h2 id="experiment-title">{experiment.title}</h2>
          <ul>
            {experiment.reading.map((sentence) => (
              <li key={sentence}>{visibleText(sentence)}</li>
            ))}
          </ul>
          {experiment.warnings.length > 0 && (
            <details className="notice" open={experiment.warnings.length <= 3}>
              <summary>{t("experiments.warnings", { n: experiment.warnings.length })}</summary>
              <ul>
                {experiment.warnings.map(({ code, message }) => (
                  <li key={`${code} ${message}`}>{visibleText(message)}</li>
                ))}
              </ul>
            </details>
          )}
          {experiment.figures.map((figure) => (
            <Figure key={figure.name} {...figure} path={figurePath(sweep, name, figure.name)} sweep={sweep} />
          ))}
          {experiment.tables.map((table) => (
            <Table key={table.name} table={table} path={tablePath(sweep, name, table.name)} sweep={sweep} />
          ))}
          <p className="quiet">
            {t("experiments.provenance", {
              interval: experiment.provenance.interval,
              level: formatShare(experiment.provenance.level, language),
              resamples: formatCount(experiment.provenance.resamples, language),
              seed: experiment.provenance.seed,
              unit: experiment.provenance.unit,
            })}
          </p>
        </section>
      )}
    </Loaded>
  );
}

function Figure(props: {
  readonly path: string;
  readonly name: string;
  readonly title: string;
  readonly sweep: string;
}): ReactNode {
  const { path, name, title, sweep } = props;
  const query = useApi<object>(`${path}.json`);
  return (
    <figure>
      <Loaded query={query}>{(spec) => <Chart spec={spec} title={title} />}</Loaded>
      <figcaption>
        {visibleText(title)}
        <Downloads path={path} name={`${sweep}-${name}`} kinds={["svg", "pdf", "json"]} />
      </figcaption>
    </figure>
  );
}

/**
 * Draws a Vega-Lite specification of a report. Its expressions are interpreted, never compiled: the page's policy allows no
 * code from text. Its addresses are never followed: a specification holds its data.
 */
function Chart({ spec, title }: { readonly spec: object; readonly title: string }): ReactNode {
  const { t } = usePreferences();
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "drawn" | "failed">("loading");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let isOld = false;
    let finalize = () => {};
    const draw = async () => {
      const { drawChart } = await import("./draw-chart.ts");
      if (isOld) return;
      const view = await drawChart(element, spec, { title, width: element.clientWidth });
      finalize = () => view.finalize();
      if (isOld) finalize();
      else setState("drawn");
    };
    draw().catch(() => setState("failed"));
    return () => {
      isOld = true;
      finalize();
      element.replaceChildren();
    };
  }, [spec, title]);
  return (
    <>
      {state === "loading" && <Loading />}
      {state === "failed" && <p className="notice">{t("chart.failed")}</p>}
      <div ref={place} className="chart" />
    </>
  );
}

function Downloads(props: {
  readonly path: string;
  readonly name: string;
  readonly kinds: readonly ("svg" | "pdf" | "csv" | "json")[];
}): ReactNode {
  const { t } = usePreferences();
  const { sayError } = useDialogs();
  const snapshot = shownSnapshot();
  const kinds = props.kinds.filter((kind) => snapshot === null || `${props.path}.${kind}` in snapshot.files);
  return (
    <span className="buttons downloads">
      {kinds.map((kind) => (
        <button
          key={kind}
          type="button"
          aria-label={t("download", { name: props.name, kind: kind.toUpperCase() })}
          onClick={() => void download(`${props.path}.${kind}`, `${props.name}.${kind}`).catch(sayError)}
        >
          {kind.toUpperCase()}
        </button>
      ))}
    </span>
  );
}

function Table(props: { readonly table: ResultTableView; readonly path: string; readonly sweep: string }): ReactNode {
  const { table, path, sweep } = props;
  const { language } = usePreferences();
  return (
    <div className="result">
      <h3>{visibleText(table.caption)}</h3>
      <div className="scroll tall" tabIndex={0} role="region" aria-label={table.caption}>
        <table>
          <thead>
            <tr>
              {table.columns.map(({ key, label, kind }) => (
                <th key={key} scope="col" className={kind === "text" ? undefined : "number"}>
                  {visibleText(label)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, at) => (
              <tr key={at}>
                {table.columns.map(({ key, kind }) => (
                  <td key={key} className={kind === "text" ? undefined : "number"}>
                    {cellText(row[key] ?? null, kind, language)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Downloads path={path} name={`${sweep}-${table.name}`} kinds={["csv"]} />
    </div>
  );
}

type ResultCell = ResultTableView["rows"][number][string];

function cellText(cell: ResultCell, kind: ResultTableView["columns"][number]["kind"], language: PageLanguage): string {
  const number = (value: number | null) => formatNumber(value, 3, language);
  if (cell === null) return unknown;
  if (typeof cell === "string") return visibleText(cell);
  if (typeof cell === "number") {
    if (kind === "count") return formatCount(cell, language);
    return kind === "p" && cell < 0.001 ? "< 0.001" : number(cell);
  }
  if (Array.isArray(cell)) return `[${number(cell[0])}, ${number(cell[1])}]`;
  if (cell.lo === null && cell.hi === null) return number(cell.value);
  return `${number(cell.value)} [${number(cell.lo)}, ${number(cell.hi)}]`;
}
