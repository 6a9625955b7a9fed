import { bandsOf, formatCount, formatShare, stateColours, stateSigns, unknownColours } from "@hallumaze/display";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { ServiceError } from "./api.ts";
import { useDialogs } from "./dialogs.tsx";
import { usePreferences } from "./preferences.tsx";

/** What stands while something is read. */
export function Loading(): ReactNode {
  const { t } = usePreferences();
  return (
    <p className="loading" role="status">
      {t("loading")}
    </p>
  );
}

/** An answer once it is there; before, that it is awaited; or why there is none, with a way to try again. */
export function Loaded<T>(props: {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}): ReactNode {
  const { query, children } = props;
  const { t } = usePreferences();
  const { openToken } = useDialogs();
  if (query.data !== undefined) return children(query.data);
  if (!query.isError) {
    return query.failureReason instanceof ServiceError ? <p className="loading">{t("working")}</p> : <Loading />;
  }
  const refused = query.error instanceof ServiceError && query.error.status === 401;
  return (
    <div className="card problem" role="alert">
      <p>
        <strong>{refused ? t("problem.token") : t("problem.title")}</strong> {!refused && query.error.message}
      </p>
      <div className="buttons">
        {refused && (
          <button type="button" className="main" onClick={openToken}>
            {t("token.none")}
          </button>
        )}
        <button type="button" onClick={() => void query.refetch()}>
          {t("again")}
        </button>
      </div>
    </div>
  );
}

/** States in the order in which a trial goes through them. */
export const stateOrder = ["done", "running", "queued", "planned", "blocked", "failed", "cancelled"] as const;

/** How many trials are in each state, as one bar with its words. */
export function StateBar(props: {
  readonly states: Readonly<Record<string, number | undefined>>;
  readonly label: string;
  readonly compact?: boolean;
}): ReactNode {
  const { language, theme, word } = usePreferences();
  const present = stateOrder.flatMap((state) => {
    const count = props.states[state] ?? 0;
    return count > 0 ? [{ state, count }] : [];
  });
  const total = present.reduce((sum, { count }) => sum + count, 0);
  const parts = present.map(({ state, count }, at) => ({
    state,
    count,
    start: (present.slice(0, at).reduce((sum, before) => sum + before.count, 0) / Math.max(1, total)) * 100,
    width: (count / Math.max(1, total)) * 100,
  }));
  const told = present.map(({ state, count }) => `${word("state", state)} ${formatCount(count, language)}`).join(", ");
  return (
    <div className="state-bar">
      <svg
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${props.label}: ${told === "" ? "0" : told}`}
      >
        <rect className="track" width="100" height="6" />
        {parts.map(({ state, start, width }) => (
          <rect key={state} x={start} width={width} height="6" fill={stateFill(state, theme)} />
        ))}
      </svg>
      {!props.compact && (
        <ul className="legend" aria-hidden="true">
          {parts.map(({ state, count, width }) => (
            <li key={state}>
              <Swatch colour={stateFill(state, theme)} sign={stateSigns[state] ?? ""} /> {word("state", state)}{" "}
              <b>{formatCount(count, language)}</b> <small>{formatShare(width / 100, language)}</small>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A patch of colour in a legend, with the sign that stands for it where colours cannot be told. */
export function Swatch({ colour, sign }: { readonly colour: string; readonly sign: string }): ReactNode {
  return (
    <svg className="swatch" viewBox="0 0 12 12" aria-hidden="true" focusable="false">
      <rect x="0.5" y="0.5" width="11" height="11" rx="2" fill={colour} />
      <text x="6" y="9.5" textAnchor="middle">
        {sign}
      </text>
    </svg>
  );
}

/** The fill of a state; that of what is unknown where the page does not know it. */
export function stateFill(state: string, theme: "light" | "dark"): string {
  return stateColours[theme][state] ?? unknownColours[theme];
}

/** A figure with its name below it. */
export function Fact(props: {
  readonly name: string;
  readonly children: ReactNode;
  readonly hint?: string;
}): ReactNode {
  return (
    <div className="fact" title={props.hint}>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

/** Where a value stands on the original document's scales, as signs with their names; nothing where it has none. */
export function BandSigns(props: { readonly metric: string; readonly value: number | null }): ReactNode {
  const { t, word } = usePreferences();
  const bands = bandsOf(props.metric, props.value);
  if (bands.length === 0) return null;
  const told = bands.map(({ name }) => word("band", name)).join("; ");
  return (
    <abbr className="band" title={`${t("bands.title")}: ${told}`}>
      {bands.map(({ name, sign }) => (
        <span key={name}>{sign}</span>
      ))}
    </abbr>
  );
}
