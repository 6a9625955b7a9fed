import type { ComparisonView, LeaderboardFigure, LeaderboardView } from "@hallumaze/contract";
import {
  type BoardFilter,
  comparePath,
  formatCount,
  formatNumber,
  formatShare,
  leaderboardPath,
  unknown,
  visibleText,
  wholeBoard,
} from "@hallumaze/display";
import { type ReactNode, useState } from "react";

import { useApi } from "./api.ts";
import { usePreferences } from "./preferences.tsx";
import { BandSigns, Fact, Loaded } from "./states.tsx";

const profiles = ["robust", "seed", "published"] as const;
const figures = ["mei", "sr", "hrr", "ce", "brs", "score", "hc", "bt"] as const;
/** The most that each figure can be, for its bar; null where there is no bound. */
const most: Readonly<Record<(typeof figures)[number], number | null>> = {
  mei: 1,
  sr: 1,
  hrr: 1,
  ce: 1,
  brs: 1,
  score: 1,
  hc: null,
  bt: null,
};

/** Models ranked with intervals and coverage, filtered; and two of them compared on the mazes that both have. */
export function LeaderboardTab({ name }: { readonly name: string }): ReactNode {
  const { t } = usePreferences();
  const [filter, setFilter] = useState<BoardFilter>(wholeBoard);
  const query = useApi<LeaderboardView>(leaderboardPath(name, filter));
  return (
    <Loaded query={query}>
      {(board) => (
        <>
          <section className="card" aria-label={t("tab.leaderboard")}>
            <Filters board={board} filter={filter} onFilter={setFilter} />
            <Board board={board} />
          </section>
          {board.rows.length > 1 && <Comparison name={name} board={board} filter={filter} />}
        </>
      )}
    </Loaded>
  );
}

function Filters(props: {
  readonly board: LeaderboardView;
  readonly filter: BoardFilter;
  readonly onFilter: (filter: BoardFilter) => void;
}): ReactNode {
  const { board, filter, onFilter } = props;
  const { t, word } = usePreferences();
  const { sizes, groups, mirages, languages } = board.choices;
  const choices = [
    { key: "size", options: sizes.map((size) => [String(size), `${size}×${size}`] as const) },
    { key: "group", options: groups.map((group) => [group, group] as const) },
    {
      key: "mirage",
      options: mirages.map((on) => (on ? (["on", t("mirage.on")] as const) : (["off", t("mirage.off")] as const))),
    },
    { key: "language", options: languages.map((each) => [each, word("language", each)] as const) },
  ] as const;
  return (
    <div className="row">
      <div className="choice" role="group" aria-label={t("profile")}>
        {profiles.map((profile) => (
          <button
            key={profile}
            type="button"
            aria-pressed={profile === filter.profile}
            title={word("profileHint", profile)}
            onClick={() => onFilter({ ...filter, profile })}
          >
            {word("profile", profile)}
          </button>
        ))}
      </div>
      {choices.map(({ key, options }) => (
        <label key={key} className="inline">
          {t(`filter.${key}`)}
          <select
            value={filter[key]}
            disabled={options.length < 2 && filter[key] === ""}
            onChange={(event) => onFilter({ ...filter, [key]: event.currentTarget.value })}
          >
            <option value="">{t("filter.all")}</option>
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}

function Board({ board }: { readonly board: LeaderboardView }): ReactNode {
  const { t, word, language } = usePreferences();
  const hasLevels = board.rows.some(({ levels }) => levels !== null);
  if (board.rows.length === 0) return <p className="quiet">{t("board.none")}</p>;
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label={t("tab.leaderboard")}>
        <table className="board">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">{t("models.model")}</th>
              {figures.map((figure) => (
                <th key={figure} scope="col" title={word("metric", figure)}>
                  {figure.toUpperCase()} <small>{word("betterSign", figure)}</small>
                </th>
              ))}
              {hasLevels && <th scope="col">{t("board.levels")}</th>}
              <th scope="col">{t("board.coverage")}</th>
              <th scope="col">{t("board.mazes")}</th>
            </tr>
          </thead>
          <tbody>
            {board.rows.map((row) => (
              <tr key={row.model}>
                <td>{row.rank ?? unknown}</td>
                <th scope="row">
                  <bdi>{visibleText(row.model)}</bdi>
                </th>
                {figures.map((figure) => (
                  <td key={figure}>
                    <Estimate
                      figure={row[figure]}
                      most={most[figure]}
                      banded={board.profile === "seed" ? figure : null}
                    />
                  </td>
                ))}
                {hasLevels && (
                  <td>
                    {row.levels === null
                      ? unknown
                      : `${row.levels.l1} / ${row.levels.l2} / ${row.levels.l3}${row.levels.unscored > 0 ? ` (+${row.levels.unscored})` : ""}`}
                  </td>
                )}
                <td>
                  {formatShare(row.coverage, language)}{" "}
                  <small>
                    {formatCount(row.answered, language)}/{formatCount(row.planned, language)}
                    {row.nonAnswers > 0 && ` · ${t("board.nonAnswers", { n: formatCount(row.nonAnswers, language) })}`}
                    {row.cutOffs > 0 && ` · ${t("board.cutOffs", { n: formatCount(row.cutOffs, language) })}`}
                  </small>
                </td>
                <td className="number">{formatCount(row.mazes, language)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet">{t("board.note", { level: formatShare(board.level, language) })}</p>
    </>
  );
}

/** A mean with its interval, as a number and as a line with a dot. */
function Estimate(props: {
  readonly figure: LeaderboardFigure;
  readonly most: number | null;
  /** The metric whose scale applies; null where none does. */
  readonly banded: string | null;
}): ReactNode {
  const { t, language } = usePreferences();
  const { value, lo, hi, method, n, missing } = props.figure;
  const digits = props.most === null ? 1 : 3;
  const told = `[${formatNumber(lo, digits, language)}, ${formatNumber(hi, digits, language)}]`;
  const hint = t("board.hint", { interval: told, method: method ?? unknown, n, missing });
  return (
    <span className={props.most === null ? "estimate estimate-count" : "estimate"} title={hint}>
      <b>
        {formatNumber(value, digits, language)}{" "}
        {props.banded !== null && <BandSigns metric={props.banded} value={value} />}
      </b>{" "}
      {lo !== null && hi !== null && <small>{told}</small>}
      {props.most !== null && value !== null && (
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">
          <path className="estimate-track" d="M0 4H100" />
          {lo !== null && hi !== null && <path className="estimate-interval" d={`M${lo * 100} 4H${hi * 100}`} />}
          <path className="estimate-value" d={`M${value * 100} 0V8`} />
        </svg>
      )}
    </span>
  );
}

const compared = ["mei", "sr", "hrr", "ce", "brs", "score"] as const;

function Comparison(props: {
  readonly name: string;
  readonly board: LeaderboardView;
  readonly filter: BoardFilter;
}): ReactNode {
  const { name, board, filter } = props;
  const { t, word } = usePreferences();
  const models = board.rows.map(({ model }) => model);
  const [a, setA] = useState(models[0] ?? "");
  const [b, setB] = useState(models[1] ?? "");
  const [metric, setMetric] = useState<string>("mei");
  const path = comparePath(name, { a, b, metric }, filter);
  const query = useApi<ComparisonView>(a === b ? null : path);
  const model = (label: string, value: string, set: (value: string) => void) => (
    <label className="inline">
      {label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {models.map((each) => (
          <option key={each} value={each}>
            {visibleText(each)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <section className="card" aria-labelledby="compare-title">
      <h2 id="compare-title">{t("compare.title")}</h2>
      <div className="row">
        {model("A", a, setA)}
        {model("B", b, setB)}
        <label className="inline">
          {t("metrics.metric")}
          <select value={metric} onChange={(event) => setMetric(event.currentTarget.value)}>
            {compared.map((each) => (
              <option key={each} value={each}>
                {each.toUpperCase()} · {word("metric", each)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {a === b ? (
        <p className="quiet">{t("compare.same")}</p>
      ) : (
        <Loaded query={query}>{(comparison) => <Compared comparison={comparison} />}</Loaded>
      )}
    </section>
  );
}

function Compared({ comparison }: { readonly comparison: ComparisonView }): ReactNode {
  const { t, language } = usePreferences();
  const { difference, differences } = comparison;
  const pText = (p: number | null) => (p !== null && p < 0.0001 ? "< 0.0001" : formatNumber(p, 4, language));
  const number = (value: number | null, digits = 3) => formatNumber(value, digits, language);
  return (
    <>
      <p>{visibleText(comparison.reading)}</p>
      <Differences comparison={comparison} />
      <dl className="facts">
        <Fact name={t("compare.difference")}>
          <b>{number(difference.value)}</b>{" "}
          <small>
            [{number(difference.lo)}, {number(difference.hi)}]
          </small>
        </Fact>
        <Fact name={t("compare.mazes")}>
          {formatCount(comparison.mazes, language)}
          {comparison.unpaired > 0 && (
            <small> {t("compare.unpaired", { n: formatCount(comparison.unpaired, language) })}</small>
          )}
        </Fact>
        <Fact name={`p · ${comparison.test}`}>{pText(comparison.p)}</Fact>
        <Fact name="p · Wilcoxon">{pText(comparison.wilcoxonP)}</Fact>
        <Fact name={t("compare.standardised")}>{number(comparison.standardised, 2)}</Fact>
        <Fact name={t("compare.detectable")}>{number(comparison.detectable)}</Fact>
        {comparison.bounds !== null && (
          <Fact name={t("compare.bounds")}>
            [{number(comparison.bounds[0])}, {number(comparison.bounds[1])}]
          </Fact>
        )}
        <Fact name={t("compare.wins")}>
          {differences.filter((each) => each > 0).length} / {differences.filter((each) => each === 0).length} /{" "}
          {differences.filter((each) => each < 0).length}
        </Fact>
      </dl>
      <p className="quiet">
        {t("compare.note", { level: formatShare(comparison.level, language), interval: comparison.interval })}
      </p>
    </>
  );
}

/** Each maze's difference as a line from zero, greatest first, over the mean with its interval. */
function Differences({ comparison }: { readonly comparison: ComparisonView }): ReactNode {
  const { t } = usePreferences();
  const { difference, differences } = comparison;
  if (differences.length === 0) return null;
  const sorted = differences.toSorted((one, other) => other - one);
  const bound = Math.max(1e-9, ...sorted.map(Math.abs), Math.abs(difference.lo ?? 0), Math.abs(difference.hi ?? 0));
  const width = 600;
  const height = 110;
  const y = (value: number) => height / 2 - (value / bound) * (height / 2 - 4);
  const x = (at: number) => ((at + 0.5) / sorted.length) * width;
  const bars = sorted.map((value, at) => `M${x(at).toFixed(1)} ${height / 2}V${y(value).toFixed(1)}`).join("");
  return (
    <svg
      className="differences"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t("compare.label", { n: sorted.length })}
    >
      {difference.lo !== null && difference.hi !== null && (
        <rect
          className="differences-interval"
          y={y(difference.hi)}
          width={width}
          height={Math.max(1, y(difference.lo) - y(difference.hi))}
        />
      )}
      <path className="differences-zero" d={`M0 ${height / 2}H${width}`} />
      <path className="differences-bars" d={bars} strokeWidth={Math.min(10, (width / sorted.length) * 0.7)} />
      {difference.value !== null && <path className="differences-mean" d={`M0 ${y(difference.value)}H${width}`} />}
    </svg>
  );
}
