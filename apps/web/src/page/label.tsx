import type { AgreementView, LabellingView, LabelReport } from "@hallumaze/contract";
import { formatNumber, formatShare, visibleText } from "@hallumaze/display";
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";

import { codeOf, download, queries, send, useApi } from "./api.ts";
import { useDialogs } from "./dialogs.tsx";
import { Confusion } from "./judge.tsx";
import { usePreferences } from "./preferences.tsx";
import { Untrusted } from "./reply-pane.tsx";
import { Fact, Loaded } from "./states.tsx";

const raterKey = "hallumaze.rater";

/** Labelling by people: blind, one answer at a time, by keys. Agreement shows once two raters are through. */
export function LabelPage({ set }: { readonly set: string }): ReactNode {
  const { t } = usePreferences();
  const [rater, setRater] = useState(() => sessionStorage.getItem(raterKey) ?? "");
  const [typed, setTyped] = useState(rater);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sessionStorage.setItem(raterKey, typed.trim());
    setRater(typed.trim());
  };
  return (
    <>
      <h1>
        {t("label.title")} · <bdi>{visibleText(set)}</bdi>
      </h1>
      <form className="row" onSubmit={submit}>
        <label className="inline">
          {t("label.rater")}
          <input value={typed} maxLength={60} required onChange={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit">{rater === "" ? t("label.begin") : t("label.change")}</button>
      </form>
      {rater !== "" && <Items key={rater} set={set} rater={rater} />}
      <Agreement set={set} />
    </>
  );
}

function Items({ set, rater }: { readonly set: string; readonly rater: string }): ReactNode {
  const path = `/api/labelling/${encodeURIComponent(set)}?rater=${encodeURIComponent(rater)}`;
  const { t } = usePreferences();
  const { ask, sayError } = useDialogs();
  const query = useApi<LabellingView>(path);
  const draw = async () => {
    const question = { title: t("label.drawTitle"), body: t("label.drawBody"), action: t("label.draw") };
    if ((await ask(question)) === null) return;
    try {
      await send(`/api/labelling/${encodeURIComponent(set)}`, {});
      await queries.invalidateQueries();
    } catch (error) {
      sayError(error);
    }
  };
  if (codeOf(query.error) === "not-drawn") {
    return (
      <section className="card">
        <p>{t("label.drawBody")}</p>
        <button type="button" className="main" onClick={() => void draw()}>
          {t("label.draw")}
        </button>
      </section>
    );
  }
  return <Loaded query={query}>{(view) => <Item key={view.item?.itemId} set={set} view={view} />}</Loaded>;
}

function Item({ set, view }: { readonly set: string; readonly view: LabellingView }): ReactNode {
  const { t, word } = usePreferences();
  const { say, sayError } = useDialogs();
  const [reason, setReason] = useState("");
  const [isSending, setSending] = useState(false);
  const section = useRef<HTMLElement>(null);
  // Each answer takes the focus: the keys give levels at once, and a screen reader begins with it.
  useEffect(() => section.current?.focus({ preventScroll: true }), []);
  const { item } = view;
  const give = async (level: number) => {
    if (item === null || isSending) return;
    setSending(true);
    try {
      const body = { rater: view.rater, itemId: item.itemId, level, ...(reason.trim() === "" ? {} : { reason }) };
      const { done, total } = await send<LabelReport>(`/api/labelling/${encodeURIComponent(set)}/labels`, body);
      say(t("label.given", { level, done, total }));
      await queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) => typeof path === "string" && path.startsWith("/api/labelling/"),
      });
    } catch (error) {
      sayError(error);
    } finally {
      setSending(false);
    }
  };
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^[123]$/.test(event.key)) return;
    if (event.target instanceof Element && event.target.closest("input, textarea, select, dialog")) return;
    event.preventDefault();
    void give(Number(event.key));
  });
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  if (item === null) {
    return (
      <p className="card notice" role="status">
        {t("label.finished", { total: view.total })}
      </p>
    );
  }
  const texts = [
    [t("label.expected"), item.expectedL3],
    [t("label.l2"), item.criteriaL2],
    [t("label.l1"), item.criteriaL1],
  ] as const;
  return (
    <section
      ref={section}
      tabIndex={-1}
      className="card label"
      aria-label={t("label.item", { n: view.done + 1, total: view.total })}
    >
      <h2>{t("label.item", { n: view.done + 1, total: view.total })}</h2>
      <div className="label-texts">
        <div>
          <h3>{t("label.response")}</h3>
          <pre className="raw tall" tabIndex={0} role="region" aria-label={t("label.response")}>
            <Untrusted text={item.response} />
          </pre>
        </div>
        <div>
          {texts.map(([name, text]) =>
            text === null ? null : (
              <div key={name}>
                <h3>{name}</h3>
                <p>
                  <Untrusted text={text} />
                </p>
              </div>
            ),
          )}
          <details>
            <summary>{t("label.prompt")}</summary>
            <pre className="raw">
              <Untrusted text={item.prompt} />
            </pre>
          </details>
        </div>
      </div>
      <label className="field">
        {t("label.reason")}
        <textarea rows={2} maxLength={2000} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
      </label>
      <div className="buttons" role="group" aria-label={t("label.levels")}>
        {[1, 2, 3].map((level) => (
          <button key={level} type="button" className="level" disabled={isSending} onClick={() => void give(level)}>
            <kbd>{level}</kbd> L{level} · {word("level", String(level))}
          </button>
        ))}
      </div>
      <p className="quiet">{t("label.keys")}</p>
    </section>
  );
}

function Agreement({ set }: { readonly set: string }): ReactNode {
  const { t, language } = usePreferences();
  const { sayError } = useDialogs();
  const base = `/api/labelling/${encodeURIComponent(set)}`;
  const query = useApi<AgreementView>(`${base}/agreement`);
  if (codeOf(query.error) === "not-drawn") return null;
  return (
    <section className="card" aria-labelledby="agreement">
      <h2 id="agreement">{t("label.agreement")}</h2>
      <Loaded query={query}>
        {({ raters, total, agreement }) => (
          <>
            <ul>
              {raters.map(({ rater, done }) => (
                <li key={rater}>
                  <bdi>{visibleText(rater)}</bdi>: {done}/{total}
                </li>
              ))}
            </ul>
            {agreement === null ? (
              <p className="quiet">{t("label.notYet")}</p>
            ) : (
              <>
                <dl className="facts">
                  <Fact name={t("judge.agreement")}>
                    {formatShare(agreement.share, language)}{" "}
                    <small>
                      {agreement.agreed}/{agreement.items}
                    </small>
                  </Fact>
                  <Fact name="κ">{formatNumber(agreement.kappa, 3, language)}</Fact>
                  <Fact name={t("judge.quadraticKappa")}>{formatNumber(agreement.quadraticKappa, 3, language)}</Fact>
                  <Fact name="α">{formatNumber(agreement.ordinalAlpha, 3, language)}</Fact>
                </dl>
                <Confusion
                  caption={t("label.confusion")}
                  count={(row, column) => agreement.confusion[row - 1]?.[(column ?? 0) - 1] ?? 0}
                />
                <button
                  type="button"
                  onClick={() => void download(`${base}/gold.jsonl`, `${set}-gold.jsonl`).catch(sayError)}
                >
                  {t("label.gold")}
                </button>
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
