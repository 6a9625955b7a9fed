import type { ExchangeView, FormulaView, TrialJudgement, TrialView } from "@hallumaze/contract";
import {
  formatCount,
  formatDuration,
  formatMoment,
  formatNumber,
  formatShare,
  formatUsd,
  type PageLanguage,
  unknown,
} from "@hallumaze/display";
import { type ReactNode, useState } from "react";

import { usePreferences } from "./preferences.tsx";
import { Untrusted } from "./reply-pane.tsx";
import { BandSigns, Fact } from "./states.tsx";

/** Every metric of a trial with its formula and this trial's numbers in it, in the profile that is chosen. */
export function Metrics({ trial }: { readonly trial: TrialView }): ReactNode {
  const { t, word, language } = usePreferences();
  const [chosen, setChosen] = useState("robust");
  const profile = trial.profiles.find(({ profile }) => profile === chosen) ?? trial.profiles[0];
  if (profile === undefined) return <p className="quiet">{t("metrics.none")}</p>;
  return (
    <>
      <div className="choice" role="group" aria-label={t("profile")}>
        {trial.profiles.map(({ profile: name }) => (
          <button key={name} type="button" aria-pressed={name === profile.profile} onClick={() => setChosen(name)}>
            {word("profile", name)}
          </button>
        ))}
        {!profile.isStored && <span className="badge badge-warn">{t("metrics.rescore")}</span>}
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={t("trial.metrics")}>
        <table className="metrics">
          <thead>
            <tr>
              <th scope="col">{t("metrics.metric")}</th>
              <th scope="col" className="number">
                {t("metrics.value")}
              </th>
              <th scope="col">{t("metrics.formula")}</th>
              <th scope="col">{t("metrics.filled")}</th>
            </tr>
          </thead>
          <tbody>
            {profile.formulas.map((formula) => (
              <tr key={formula.metric}>
                <th scope="row" title={word("metric", formula.metric)}>
                  {formula.metric.toUpperCase()} <small>{word("metric", formula.metric)}</small>
                </th>
                <td className="number">
                  {profile.profile === "seed" && <BandSigns metric={formula.metric} value={formula.value} />}{" "}
                  <b>{metricText(formula, language)}</b>
                </td>
                <td>
                  <code>{formula.formula}</code>
                </td>
                <td>
                  {formula.filled !== null && <code>{formula.filled}</code>}
                  {formula.note !== null && <small> {formula.note}</small>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {trial.walk !== null && <WalkCounts counts={trial.walk.counts} />}
    </>
  );
}

const shownCounts = [
  "wallAttempts",
  "outOfGridAttempts",
  "teleports",
  "throughWalls",
  "finalPathErrors",
  "rewinds",
  "jumpBacks",
  "prematureBacktracks",
  "loopEvents",
  "falseClaims",
  "trapsFaced",
  "trapsTaken",
  "mirageResistance",
  "solutionMovesReached",
  "excessMoves",
] as const;

/** What the formulas are fed with, and what stands beside them. */
function WalkCounts({ counts }: { readonly counts: NonNullable<TrialView["walk"]>["counts"] }): ReactNode {
  const { t, word, language } = usePreferences();
  return (
    <details>
      <summary>{t("metrics.walk")}</summary>
      <dl className="facts">
        {shownCounts.map((name) => (
          <Fact key={name} name={word("count", name)}>
            {formatNumber(counts[name], name === "mirageResistance" ? 2 : 0, language)}
          </Fact>
        ))}
      </dl>
    </details>
  );
}

const counts: ReadonlySet<FormulaView["metric"]> = new Set(["sr", "hc", "fhr", "bt", "lt"]);

function metricText({ metric, value }: FormulaView, language: PageLanguage): string {
  return formatNumber(value, counts.has(metric) ? 0 : 4, language);
}

/** The judges' verdicts on a trial, each with its grounds; a quotation leads to where it stands. */
export function Judgements(props: {
  readonly trial: TrialView;
  readonly onShow: (place: { readonly reply: number; readonly start: number }) => void;
}): ReactNode {
  const { t } = usePreferences();
  const { judgements } = props.trial;
  if (judgements.length === 0) return <p className="quiet">{t("judgements.none")}</p>;
  return (
    <ol className="judgements">
      {judgements.map((judgement, at) => (
        <li key={judgement.judgementId}>
          <Judgement judgement={judgement} number={at + 1} onShow={props.onShow} />
        </li>
      ))}
    </ol>
  );
}

function Judgement(props: {
  readonly judgement: TrialJudgement;
  readonly number: number;
  readonly onShow: (place: { readonly reply: number; readonly start: number }) => void;
}): ReactNode {
  const { judgement, number } = props;
  const { t, word, language } = usePreferences();
  return (
    <article className="judgement">
      <h3>
        {number}.{" "}
        {judgement.level === null
          ? t("judgements.unscored", { reason: judgement.unscoredReason ?? unknown })
          : `L${judgement.level} · ${word("level", String(judgement.level))}`}
      </h3>
      <p className="quiet">
        {[
          judgement.modelAsked,
          judgement.scoredBy,
          judgement.promptVersion,
          t("judgements.sure", { share: formatShare(judgement.confidence, language) }),
          formatMoment(new Date(judgement.createdAtMs).toISOString(), language),
          formatUsd(judgement.costUsd === null ? null : Number(judgement.costUsd), language),
          ...judgement.flags,
        ].join(" · ")}
      </p>
      {judgement.counterArgument !== null && (
        <p>
          <b>{t("judgements.counter")}</b> <Untrusted text={judgement.counterArgument} />
        </p>
      )}
      {judgement.reasoning !== null && (
        <p>
          <b>{t("judgements.reasoning")}</b> <Untrusted text={judgement.reasoning} />
        </p>
      )}
      {judgement.evidence.length > 0 && (
        <ul className="evidence">
          {judgement.evidence.map(({ quote, claim, span }, at) => (
            <li key={at}>
              <q>
                <bdi>
                  <Untrusted text={quote} />
                </bdi>
              </q>{" "}
              — <Untrusted text={claim} />{" "}
              {span === null ? (
                <small>{t("judgements.nowhere")}</small>
              ) : (
                <button type="button" onClick={() => props.onShow(span)}>
                  {t("judgements.show")}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** Every request of a trial: when, how long each part took, tokens and cost; and what came where no reply above is it. */
export function Exchanges({ trial }: { readonly trial: TrialView }): ReactNode {
  const { t } = usePreferences();
  if (trial.exchanges.length === 0) return <p className="quiet">{t("exchanges.none")}</p>;
  const heads = ["number", "sentAt", "timing", "tokens", "cost", "served", "ended"] as const;
  const slowestMs = Math.max(1, ...trial.exchanges.map(totalMs));
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t("trial.exchanges")}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {t(`exchanges.${head}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {trial.exchanges.map((exchange) => (
            <ExchangeRow key={exchange.sequence} exchange={exchange} slowestMs={slowestMs} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function totalMs({ queueMs, limiterMs, httpMs }: ExchangeView): number {
  return (queueMs ?? 0) + (limiterMs ?? 0) + httpMs;
}

function ExchangeRow(props: { readonly exchange: ExchangeView; readonly slowestMs: number }): ReactNode {
  const { exchange, slowestMs } = props;
  const { t, word, language } = usePreferences();
  const { queueMs, limiterMs, httpMs, ttftMs } = exchange;
  const usd = (value: string | null) => formatUsd(value === null ? null : Number(value), language);
  const parts = [
    { name: "queue", ms: queueMs },
    { name: "limiter", ms: limiterMs },
    { name: "first", ms: ttftMs === null ? null : Math.min(ttftMs, httpMs) },
    { name: "rest", ms: ttftMs === null ? httpMs : httpMs - Math.min(ttftMs, httpMs) },
  ] as const;
  let x = 0;
  const bars = parts.map(({ name, ms }) => {
    const width = ((ms ?? 0) / slowestMs) * 120;
    const bar = { name, x, width };
    x += width;
    return bar;
  });
  const timing = t("exchanges.timingText", {
    queue: formatDuration(queueMs, language),
    limiter: formatDuration(limiterMs, language),
    first: formatDuration(ttftMs, language),
    http: formatDuration(httpMs, language),
  });
  return (
    <>
      <tr>
        <td>
          {exchange.sequence} <small>{t("exchanges.turnTry", { turn: exchange.turn, n: exchange.tryNumber })}</small>
        </td>
        <td>{formatMoment(new Date(exchange.sentAtMs).toISOString(), language)}</td>
        <td>
          <svg className="timing" viewBox="0 0 120 8" role="img" aria-label={timing}>
            {bars.map(({ name, x, width }) => (
              <rect key={name} className={`timing-${name}`} x={x} width={width} height="8" />
            ))}
          </svg>
          <small>{timing}</small>
        </td>
        <td>
          {t("exchanges.tokensText", {
            input: formatCount(exchange.inputTokens, language),
            output: formatCount(exchange.outputTokens, language),
          })}
          {exchange.reasoningTokens !== null && exchange.reasoningTokens > 0 && (
            <small> {t("exchanges.reasoningTokens", { n: formatCount(exchange.reasoningTokens, language) })}</small>
          )}
        </td>
        <td>
          {exchange.costUsd === null && exchange.costBoundUsd !== null ? "≤ " : ""}
          {usd(exchange.costUsd ?? exchange.costBoundUsd)}
        </td>
        <td>
          <bdi>
            <Untrusted text={exchange.servedModel ?? unknown} />
          </bdi>
        </td>
        <td>
          {exchange.outcome === null ? (exchange.finishReason ?? unknown) : word("outcome", exchange.outcome)}
          {exchange.isLate && <small> {t("exchanges.late")}</small>}
          {exchange.errorMessage !== null && (
            <small>
              {" "}
              <Untrusted text={exchange.errorMessage} />
            </small>
          )}
        </td>
      </tr>
      {[exchange.text, exchange.reasoning].map((text, at) =>
        text === null ? null : (
          <tr key={at}>
            <td colSpan={7}>
              <details>
                <summary>{at === 0 ? t("exchanges.text") : t("exchanges.reasoning")}</summary>
                <pre className="raw">
                  <Untrusted text={text} />
                </pre>
              </details>
            </td>
          </tr>
        ),
      )}
    </>
  );
}

/** What the model was asked, and with which parameters. */
export function Prompt({ trial }: { readonly trial: TrialView }): ReactNode {
  const { t, language } = usePreferences();
  const parameters = Object.entries(trial.params);
  return (
    <>
      <dl className="facts">
        <Fact name={t("prompt.version")}>{trial.promptVersion}</Fact>
        <Fact name={t("prompt.temperature")}>{formatNumber(trial.temperature, 1, language)}</Fact>
        <Fact name={t("prompt.maxTokens")}>{formatCount(trial.maxTokens, language)}</Fact>
        {parameters.map(([name, value]) => (
          <Fact key={name} name={name}>
            <Untrusted text={String(value)} />
          </Fact>
        ))}
      </dl>
      {trial.prompt !== null &&
        (["system", "user"] as const).map((part) => (
          <details key={part} open={part === "user"}>
            <summary>{t(`prompt.${part}`)}</summary>
            <pre className="raw">
              <Untrusted text={trial.prompt?.[part] ?? ""} />
            </pre>
          </details>
        ))}
    </>
  );
}
