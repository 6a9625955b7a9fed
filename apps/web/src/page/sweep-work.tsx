import type { LaneReportView, LaneView, SteeringReport, SweepView } from "@hallumaze/contract";
import {
  formatCount,
  formatDuration,
  formatMoment,
  formatNumber,
  formatShare,
  formatUsd,
  routeAddress,
  unknown,
  visibleText,
} from "@hallumaze/display";
import type { ReactNode } from "react";

import { queries, send, shownSnapshot } from "./api.ts";
import { type Question, useDialogs } from "./dialogs.tsx";
import { usePreferences } from "./preferences.tsx";
import { Untrusted } from "./reply-pane.tsx";
import { Fact, StateBar } from "./states.tsx";

/** Asks, does, and says what came of it; then everything of the sweep is read again. */
export function useSteering(name: string): (verb: string, body: object, question: Question) => Promise<void> {
  const { ask, say, sayError } = useDialogs();
  const { t } = usePreferences();
  return async (verb, body, question) => {
    if ((await ask(question)) === null) return;
    try {
      const report = await send<SteeringReport>(`/api/sweeps/${encodeURIComponent(name)}/${verb}`, body);
      say(reportText(report, t));
      void queries.invalidateQueries();
    } catch (error) {
      sayError(error);
    }
  };
}

function reportText(report: SteeringReport, t: ReturnType<typeof usePreferences>["t"]): string {
  const parts = [
    ...(report.nothing === null ? [] : [report.nothing]),
    ...(report.requeued > 0 ? [t("report.requeued", { n: report.requeued })] : []),
    ...(report.judgements > 0 ? [t("report.judgements", { n: report.judgements })] : []),
    ...(report.cancelled > 0 ? [t("report.cancelled", { n: report.cancelled })] : []),
    ...(report.ending > 0 ? [t("report.ending", { n: report.ending })] : []),
    ...(report.lanes.length > 0 ? [t("report.lanes", { lanes: report.lanes.join(", ") })] : []),
    ...report.held.map(({ lane, reason }) => t("report.held", { lane, reason })),
  ];
  return parts.length === 0 ? t("report.done") : parts.join(" ");
}

/** What failed, by model and outcome, with the first message of each and what can be done about it. */
export function FailuresTab({ sweep }: { readonly sweep: SweepView }): ReactNode {
  const { t, word, language } = usePreferences();
  const steer = useSteering(sweep.name);
  const isStatic = shownSnapshot() !== null;
  const { failures: judgeFailures, unscored } = sweep.judges;
  if (sweep.failures.length === 0 && judgeFailures.length === 0 && unscored === 0) {
    return <p className="card quiet">{t("failures.none")}</p>;
  }
  const total = formatCount(
    sweep.failures.reduce((sum, { count }) => sum + count, 0),
    language,
  );
  return (
    <>
      {!isStatic && sweep.failures.length > 1 && (
        <button
          type="button"
          onClick={() =>
            void steer(
              "retry",
              { failed: true },
              {
                title: t("failures.retryTitle"),
                body: t("failures.retryAllBody", { n: total }),
                action: t("failures.retryAll", { n: total }),
              },
            )
          }
        >
          {t("failures.retryAll", { n: total })}
        </button>
      )}
      <ul className="failures">
        {sweep.failures.map((failure) => {
          const lane = sweep.models.find(({ alias }) => alias === failure.alias)?.lane ?? null;
          const laneView = sweep.lanes.find((each) => each.lane === lane);
          const what = t("failures.what", {
            n: formatCount(failure.count, language),
            outcome: word("outcome", failure.outcome),
            model: visibleText(failure.alias),
          });
          return (
            <li key={`${failure.alias} ${failure.outcome}`} className="card failure">
              <h2>
                <span className="failure-count">{formatCount(failure.count, language)}</span>{" "}
                {word("outcome", failure.outcome)} · <bdi>{visibleText(failure.alias)}</bdi>
              </h2>
              <pre className="raw">
                <Untrusted text={failure.firstMessage} />
              </pre>
              <div className="buttons">
                {failure.firstTrialId !== null && (
                  <a href={routeAddress({ view: "trial", id: failure.firstTrialId, beside: null, sweep: sweep.name })}>
                    {t("failures.first")}
                  </a>
                )}
                {!isStatic && (
                  <button
                    type="button"
                    className="main"
                    onClick={() =>
                      void steer(
                        "retry",
                        { outcomes: [failure.outcome], models: [failure.alias] },
                        {
                          title: t("failures.retryTitle"),
                          body: t("failures.retryBody", { what }),
                          action: t("failures.retry"),
                        },
                      )
                    }
                  >
                    {t("failures.retry")}
                  </button>
                )}
                {!isStatic && laneView !== undefined && <ParkOrResume lane={laneView} />}
              </div>
            </li>
          );
        })}
      </ul>
      {(judgeFailures.length > 0 || unscored > 0) && (
        <section className="card">
          <h2>{t("failures.judges")}</h2>
          {unscored > 0 && <p>{t("failures.unscored", { n: formatCount(unscored, language) })}</p>}
          <ul>
            {judgeFailures.map(({ outcome, count, firstMessage }) => (
              <li key={outcome}>
                {formatCount(count, language)} {word("outcome", outcome)}: <Untrusted text={firstMessage} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function useLaneSteering(): (
  lane: string,
  verb: string,
  body: (text: string) => object,
  question: Question,
) => Promise<void> {
  const { ask, say, sayError } = useDialogs();
  const { t } = usePreferences();
  return async (lane, verb, body, question) => {
    const text = await ask(question);
    if (text === null) return;
    try {
      const { lanes } = await send<LaneReportView>(`/api/lanes/${encodeURIComponent(lane)}/${verb}`, body(text.trim()));
      say(
        lanes
          .map((each) =>
            t(each.parked ? "lane.nowParked" : "lane.nowGoes", {
              lane: each.lane,
              n: each.parked ? each.blocked : each.requeued,
            }),
          )
          .join(" "),
      );
      void queries.invalidateQueries();
    } catch (error) {
      sayError(error);
    }
  };
}

function isParked(lane: LaneView): boolean {
  return lane.use?.parked != null || lane.control?.parked != null;
}

function ParkOrResume({ lane }: { readonly lane: LaneView }): ReactNode {
  const { t } = usePreferences();
  const steer = useLaneSteering();
  const name = visibleText(lane.lane);
  if (isParked(lane)) {
    return (
      <button
        type="button"
        onClick={() =>
          void steer(lane.lane, "resume", () => ({}), {
            title: t("lane.resumeTitle", { lane: name }),
            body: t("lane.resumeBody"),
            action: t("lane.resume"),
          })
        }
      >
        {t("lane.resume")}
      </button>
    );
  }
  return (
    <button
      type="button"
      onClick={() =>
        void steer(lane.lane, "park", (reason) => (reason === "" ? {} : { reason }), {
          title: t("lane.parkTitle", { lane: name }),
          body: t("lane.parkBody"),
          action: t("lane.park"),
          input: { label: t("lane.reason"), value: "" },
        })
      }
    >
      {t("lane.park")}
    </button>
  );
}

/** Models and lanes of a sweep: progress, time left, limits, use, money; and an operator's word on a lane. */
export function LanesTab({ sweep }: { readonly sweep: SweepView }): ReactNode {
  const { t, language } = usePreferences();
  const isStatic = shownSnapshot() !== null;
  return (
    <>
      <section className="card">
        <h2>{t("models.title")}</h2>
        <div className="scroll" tabIndex={0} role="region" aria-label={t("models.title")}>
          <table>
            <thead>
              <tr>
                {(["model", "progress", "rate", "eta", "cost", "requests", "waited"] as const).map((head) => (
                  <th key={head} scope="col">
                    {t(`models.${head}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {sweep.models.map((model) => (
                <tr key={model.alias}>
                  <th scope="row">
                    <bdi>{visibleText(model.alias)}</bdi>
                  </th>
                  <td>
                    <StateBar states={model.states} label={visibleText(model.alias)} compact />
                    <small>
                      {t("models.doneOf", {
                        n: formatCount(model.states.done ?? 0, language),
                        of: formatCount(
                          Object.values(model.states).reduce((sum, count) => sum + count, 0),
                          language,
                        ),
                      })}
                      {model.reused > 0 && ` · ${t("models.reused", { n: formatCount(model.reused, language) })}`}
                    </small>
                  </td>
                  <td>{t("models.perMinute", { n: formatNumber(model.finishedPerSecond * 60, 1, language) })}</td>
                  <td>{model.etaMs === 0 ? t("sweep.ended") : formatDuration(model.etaMs, language)}</td>
                  <td>
                    {formatUsd(model.costUsd === null ? null : Number(model.costUsd), language)}
                    {model.costUnknown > 0 && (
                      <small> + {t("models.costUnknown", { n: formatCount(model.costUnknown, language) })}</small>
                    )}
                  </td>
                  <td>
                    {formatCount(model.requests, language)}
                    {model.failedRequests > 0 && (
                      <small> {t("models.failed", { n: formatCount(model.failedRequests, language) })}</small>
                    )}
                  </td>
                  <td>{formatDuration(model.limiterMs, language)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <ul className="lanes">
        {sweep.lanes.map((lane) => (
          <li key={lane.lane} className="card">
            <Lane lane={lane} />
            {!isStatic && (
              <div className="buttons">
                <ParkOrResume lane={lane} />
                <LimitButton lane={lane} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Lane({ lane }: { readonly lane: LaneView }): ReactNode {
  const { t, word, language } = usePreferences();
  const parked = lane.use?.parked ?? lane.control?.parked ?? null;
  const limits = Object.entries(lane.use?.limits ?? lane.limits);
  const effective = new Map(Object.entries(lane.use?.effective ?? {}));
  return (
    <>
      <h2>
        <bdi>{visibleText(lane.lane)}</bdi> {lane.isJudge && <span className="badge">{t("lane.judge")}</span>}
        {parked !== null && <span className="badge badge-bad">{t("lane.parked")}</span>}
      </h2>
      {parked !== null && (
        <p className="notice">
          <Untrusted text={parked.reason} />{" "}
          <small>{formatMoment(new Date(parked.sinceMs).toISOString(), language)}</small>
        </p>
      )}
      <dl className="facts">
        <Fact name={t("lane.open")}>{formatCount(lane.open, language)}</Fact>
        <Fact name={t("sweep.eta")}>{lane.open === 0 ? t("sweep.ended") : formatDuration(lane.etaMs, language)}</Fact>
        <Fact name={t("lane.queue")} hint={t("lane.queueHint")}>
          {formatCount(lane.waiting, language)} / {formatCount(lane.active, language)} /{" "}
          {formatCount(lane.delayed, language)}
        </Fact>
        <Fact name={t("lane.utilisation")}>
          {formatShare(lane.use?.utilisation ?? null, language)}
          {lane.use?.utilisation != null && (
            <meter
              className="meter"
              min={0}
              max={1}
              value={Math.min(1, lane.use.utilisation)}
              aria-label={t("lane.utilisation")}
            />
          )}
        </Fact>
        <Fact name={t("lane.binding")}>{lane.use?.binding == null ? unknown : word("limit", lane.use.binding)}</Fact>
        <Fact name={t("lane.limited")}>
          {formatCount(lane.use?.limited ?? null, language)} / {formatCount(lane.use?.granted ?? null, language)}
        </Fact>
        {limits.map(([name, value]) => (
          <Fact key={name} name={word("limit", name)}>
            {formatCount(value ?? null, language)}
            {effective.has(name) && effective.get(name) !== value && (
              <small> {t("lane.effective", { n: formatCount(effective.get(name) ?? null, language) })}</small>
            )}
          </Fact>
        ))}
      </dl>
    </>
  );
}

const limitNames = ["rpm", "tpm", "inputTpm", "outputTpm", "concurrency"] as const;

function LimitButton({ lane }: { readonly lane: LaneView }): ReactNode {
  const { t } = usePreferences();
  const steer = useLaneSteering();
  const current = limitNames.flatMap((name) => {
    const value = lane.control?.limits[name] ?? lane.limits[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  return (
    <button
      type="button"
      onClick={() =>
        void steer(lane.lane, "limit", limitBody, {
          title: t("lane.limitTitle", { lane: visibleText(lane.lane) }),
          body: t("lane.limitBody"),
          action: t("lane.limit"),
          input: {
            label: t("lane.limitLabel"),
            value: current.join(" "),
            pattern: `\\s*(reset|((${limitNames.join("|")})=(\\d+|none)\\s*)+)`,
          },
        })
      }
    >
      {t("lane.limit")}
    </button>
  );
}

/** `rpm=50 tpm=none` as the service takes it; `reset` gives the specs' limits back. */
function limitBody(text: string): object {
  if (text === "reset") return { reset: true };
  const pairs = text.split(/\s+/).map((pair) => pair.split("="));
  return {
    limits: Object.fromEntries(pairs.map(([name = "", value]) => [name, value === "none" ? null : Number(value)])),
  };
}
