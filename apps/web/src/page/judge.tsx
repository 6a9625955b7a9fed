import type { CalibrationList, CalibrationView, DisagreementList, GateList, SweepList } from "@hallumaze/contract";
import {
  formatCount,
  formatMoment,
  formatNumber,
  formatShare,
  routeAddress,
  sweepsPath,
  unknown,
  visibleText,
} from "@hallumaze/display";
import { type ReactNode, useState } from "react";

import { useApi } from "./api.ts";
import { usePreferences } from "./preferences.tsx";
import { Untrusted } from "./reply-pane.tsx";
import { Fact, Loaded } from "./states.tsx";

/** The judges: whether their verdicts count, how they did on gold sets, and where they and people differ. */
export function JudgePage(): ReactNode {
  const { t } = usePreferences();
  const gates = useApi<GateList>("/api/judge/gate");
  const calibrations = useApi<CalibrationList>("/api/judge/calibrations");
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <>
      <h1>{t("judge.title")}</h1>
      <Loaded query={gates}>{(list) => <Gates list={list} />}</Loaded>
      <section className="card" aria-labelledby="calibrations">
        <h2 id="calibrations">{t("judge.calibrations")}</h2>
        <Loaded query={calibrations}>
          {({ calibrations: list }) =>
            list.length === 0 ? (
              <p className="quiet">{t("judge.noCalibrations")}</p>
            ) : (
              <ul className="calibrations">
                {list.map((each) => (
                  <li key={each.calibrationId}>
                    <Calibration calibration={each} onDisagreements={() => setChosen(each.calibrationId)} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      <Disagreements key={chosen} calibration={chosen} />
      <Labelling />
    </>
  );
}

function Gates({ list }: { readonly list: GateList }): ReactNode {
  const { t, language } = usePreferences();
  return (
    <section className="card" aria-labelledby="gates">
      <h2 id="gates">{t("judge.gates")}</h2>
      <p className="quiet">{t("judge.gateNote")}</p>
      {list.gates.length === 0 && <p>{t("judge.noGates")}</p>}
      <ul className="gates">
        {list.gates.map(({ judge, open, refusals, calibratedAtMs }) => (
          <li key={`${judge.judgeModel} ${judge.promptHash} ${judge.rubricVersion}`}>
            <span className={open ? "badge badge-good" : "badge badge-bad"}>
              {open ? t("judge.open") : t("judge.closed")}
            </span>{" "}
            <b>{visibleText(judge.judgeModel)}</b> <small>{judge.promptVersion}</small>{" "}
            <small>
              {calibratedAtMs === null
                ? t("judge.never")
                : formatMoment(new Date(calibratedAtMs).toISOString(), language)}
            </small>
            {refusals.length > 0 && (
              <ul>
                {refusals.map((refusal) => (
                  <li key={refusal}>{visibleText(refusal)}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Calibration(props: {
  readonly calibration: CalibrationView;
  readonly onDisagreements: () => void;
}): ReactNode {
  const { calibration } = props;
  const { t, language } = usePreferences();
  const { agreement, adjacent, falseL3, unscored, baselines } = calibration;
  const share = ({ share, lo, hi, count, n }: CalibrationView["agreement"]) => (
    <>
      {formatShare(share, language)}{" "}
      <small>
        {count}/{n} [{formatShare(lo, language)}, {formatShare(hi, language)}]
      </small>
    </>
  );
  const coefficient = (value: number | null) => formatNumber(value, 3, language);
  return (
    <details>
      <summary>
        <span className={calibration.open ? "badge badge-good" : "badge badge-bad"}>
          {calibration.open ? t("judge.open") : t("judge.closed")}
        </span>{" "}
        <b>{visibleText(calibration.judge.judgeModel)}</b> · {calibration.judge.promptVersion} · {calibration.split} ·{" "}
        {formatMoment(new Date(calibration.createdAtMs).toISOString(), language)}
      </summary>
      <dl className="facts">
        <Fact name={t("judge.agreement")}>{share(agreement)}</Fact>
        <Fact name={t("judge.adjacent")}>{share(adjacent)}</Fact>
        <Fact name={t("judge.falseL3")}>{share(falseL3)}</Fact>
        <Fact name={t("judge.unscored")}>{share(unscored)}</Fact>
        <Fact name={t("judge.bias")}>{formatNumber(calibration.signedBias, 2, language)}</Fact>
        <Fact name="κ">{coefficient(calibration.kappa.value)}</Fact>
        <Fact name={t("judge.quadraticKappa")}>{coefficient(calibration.quadraticKappa.value)}</Fact>
        <Fact name="α">{coefficient(calibration.ordinalAlpha.value)}</Fact>
        <Fact name={t("judge.humanAlpha")}>{coefficient(calibration.humanAlpha?.value ?? null)}</Fact>
        <Fact name={t("judge.looks")}>{formatCount(calibration.lookCount, language)}</Fact>
        {baselines.map(({ rule, agreed, n }) => (
          <Fact key={rule} name={t("judge.baseline", { rule })}>
            {agreed}/{n}
          </Fact>
        ))}
      </dl>
      {calibration.refusals.map((refusal) => (
        <p key={refusal} className="notice">
          {visibleText(refusal)}
        </p>
      ))}
      <Confusion
        caption={t("judge.confusion")}
        count={(human, judge) =>
          calibration.confusion.find((each) => each.human === human && each.judge === judge)?.count ?? 0
        }
        hasUnscored
      />
      <button type="button" onClick={props.onDisagreements}>
        {t("judge.showDisagreements")}
      </button>
    </details>
  );
}

/** A table of levels by levels: rows what people, or the first of them, said; columns what the other said. */
export function Confusion(props: {
  readonly caption: string;
  readonly count: (row: number, column: number | null) => number;
  readonly hasUnscored?: boolean;
}): ReactNode {
  const { t, language } = usePreferences();
  const columns = [1, 2, 3, ...(props.hasUnscored ? [null] : [])];
  return (
    <table className="confusion">
      <caption>{props.caption}</caption>
      <thead>
        <tr>
          <th scope="col">{t("judge.level")}</th>
          {columns.map((level) => (
            <th key={level} scope="col">
              {level === null ? t("judge.unscored") : `L${level}`}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[1, 2, 3].map((row) => (
          <tr key={row}>
            <th scope="row">L{row}</th>
            {columns.map((column) => (
              <td key={column} className={row === column ? "number agreed" : "number"}>
                {formatCount(props.count(row, column), language)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Disagreements({ calibration }: { readonly calibration: string | null }): ReactNode {
  const { t, language } = usePreferences();
  const query = useApi<DisagreementList>(
    `/api/judge/disagreements${calibration === null ? "" : `?calibration=${encodeURIComponent(calibration)}`}`,
  );
  const level = (value: number | null) => (value === null ? unknown : `L${value}`);
  return (
    <section className="card" aria-labelledby="disagreements">
      <h2 id="disagreements">{t("judge.disagreements")}</h2>
      <Loaded query={query}>
        {({ disagreements }) =>
          disagreements.length === 0 ? (
            <p className="quiet">{t("judge.noDisagreements")}</p>
          ) : (
            <ul className="disagreements">
              {disagreements.map((each) => (
                <li key={each.id}>
                  <details>
                    <summary>
                      {t("judge.differ", { human: level(each.human), judge: level(each.judge), line: each.line })}
                      {each.confidence !== null && <small> {formatShare(each.confidence, language)}</small>}
                    </summary>
                    {[
                      [t("judge.reasoning"), each.excerpt ?? each.unscoredReason],
                      [t("judge.expected"), each.expectedL3],
                      [t("label.prompt"), each.prompt],
                      [t("label.response"), each.response],
                    ].map(([name, text]) =>
                      text === null || text === undefined ? null : (
                        <div key={name}>
                          <h3>{name}</h3>
                          <pre className="raw">
                            <Untrusted text={text} />
                          </pre>
                        </div>
                      ),
                    )}
                  </details>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

/** The sweeps whose answers people may label. */
function Labelling(): ReactNode {
  const { t } = usePreferences();
  const query = useApi<SweepList>(sweepsPath);
  return (
    <section className="card" aria-labelledby="labelling">
      <h2 id="labelling">{t("label.title")}</h2>
      <p>{t("label.intro")}</p>
      <Loaded query={query}>
        {({ sweeps }) => (
          <ul>
            {sweeps.map(({ name }) => (
              <li key={name}>
                <a href={routeAddress({ view: "label", set: name })}>
                  <bdi>{visibleText(name)}</bdi>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
