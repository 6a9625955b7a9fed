import { formatMoment, readRoute, type Route, routeAddress } from "@hallumaze/display";
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";

import { openSnapshot, queries, shownSnapshot } from "./api.ts";
import { DialogsProvider, useDialogs } from "./dialogs.tsx";
import { followService, type LiveState } from "./live.ts";
import { PreferencesProvider, type ThemeChoice, usePreferences } from "./preferences.tsx";
import { SweepPage } from "./sweep.tsx";
import { SweepsPage } from "./sweeps.tsx";
import { Loading } from "./states.tsx";

// What few open comes when it is opened.
const TrialPage = lazy(async () => ({ default: (await import("./trial.tsx")).TrialPage }));
const JudgePage = lazy(async () => ({ default: (await import("./judge.tsx")).JudgePage }));
const LabelPage = lazy(async () => ({ default: (await import("./label.tsx")).LabelPage }));
const WalkPage = lazy(async () => ({ default: (await import("./walk.tsx")).WalkPage }));

/** The page: its head, and the view that its address names. */
function App(): ReactNode {
  const { t, language } = usePreferences();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const view = viewKey(route);
  const firstView = useRef(view);
  useEffect(() => {
    document.title = titleOf(route, t("app.name"));
    // Another view begins at its top, for the eye and for a screen reader; the first leaves the focus where it is.
    if (firstView.current === view) return;
    firstView.current = "";
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [view, route, t]);
  const snapshot = shownSnapshot();
  return (
    <>
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("app.skip")}
      </a>
      <Head route={route} />
      {snapshot !== null && (
        <p className="notice" role="note">
          {t("static.notice", { moment: formatMoment(snapshot.madeAt, language) })}
        </p>
      )}
      <main id="main" ref={main} tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          <View key={view} route={route} />
        </Suspense>
      </main>
    </>
  );
}

function View({ route }: { readonly route: Route }): ReactNode {
  const { t } = usePreferences();
  switch (route.view) {
    case "sweeps":
      return <SweepsPage />;
    case "sweep":
      return <SweepPage name={route.name} tab={route.tab} />;
    case "trial":
      return <TrialPage id={route.id} beside={route.beside} sweep={route.sweep} />;
    case "judge":
      return <JudgePage />;
    case "label":
      return <LabelPage set={route.set} />;
    case "walk":
      return <WalkPage />;
    case "unknown":
      return (
        <section className="card">
          <h1>{t("unknown.title")}</h1>
          <p>
            <a href="#/">{t("unknown.back")}</a>
          </p>
        </section>
      );
  }
}

function Head({ route }: { readonly route: Route }): ReactNode {
  const { t, language, setLanguage, themeChoice, setThemeChoice } = usePreferences();
  const { openToken, hasToken, connection } = useDialogs();
  const isStatic = shownSnapshot() !== null;
  const link = (address: string, text: string, isHere: boolean) => (
    <a href={address} aria-current={isHere ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <header className="head">
      <a className="brand" href="#/">
        <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
          <path d="M6 6h20v20M6 12h14v8M12 26V18H6" />
        </svg>
        HalluMaze
      </a>
      <nav aria-label={t("app.nav")}>
        {link("#/", t("nav.sweeps"), route.view === "sweeps" || route.view === "sweep")}
        {!isStatic && link("#/judge", t("nav.judge"), route.view === "judge" || route.view === "label")}
        {!isStatic && link("#/walk", t("nav.walk"), route.view === "walk")}
      </nav>
      <div className="head-tools">
        {!isStatic && <Live key={connection} />}
        <select
          aria-label={t("app.language")}
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value === "ko" ? "ko" : "en")}
        >
          <option value="en" lang="en">
            English
          </option>
          <option value="ko" lang="ko">
            한국어
          </option>
        </select>
        <select
          aria-label={t("app.theme")}
          value={themeChoice}
          onChange={(event) => setThemeChoice(themeOf(event.currentTarget.value))}
        >
          <option value="system">{t("theme.system")}</option>
          <option value="light">{t("theme.light")}</option>
          <option value="dark">{t("theme.dark")}</option>
        </select>
        {!isStatic && (
          <button type="button" onClick={openToken}>
            {hasToken ? t("token.set") : t("token.none")}
          </button>
        )}
      </div>
    </header>
  );
}

function themeOf(value: string): ThemeChoice {
  return value === "light" || value === "dark" ? value : "system";
}

function titleOf(route: Route, name: string): string {
  if (route.view === "sweep") return `${route.name} · ${name}`;
  return route.view === "trial" ? `${route.id.slice(0, 8)} · ${name}` : name;
}

/** Tabs of one sweep are one view: what was chosen in it stays. */
function viewKey(route: Route): string {
  if (route.view === "unknown") return "unknown";
  return route.view === "sweep" ? `sweep ${route.name}` : routeAddress(route);
}

function useRoute(): Route {
  const hash = useSyncExternalStore(
    (changed) => {
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    },
    () => location.hash,
  );
  const snapshot = shownSnapshot();
  const route = readRoute(hash);
  // A snapshot is of one sweep: its list would be one line.
  if (snapshot !== null && hash === "") return { view: "sweep", name: snapshot.sweep, tab: "grid" };
  return route;
}

/** Follows the service while the page is open, and says whether it does. */
function Live(): ReactNode {
  const { t } = usePreferences();
  const [state, setState] = useState<LiveState>("connecting");
  useEffect(() => {
    const stop = new AbortController();
    void followService(stop.signal, setState);
    return () => stop.abort();
  }, []);
  return (
    <span className={`live live-${state}`} role="status">
      {t(`live.${state}`)}
    </span>
  );
}

const place = document.querySelector("#page");
if (place === null) throw new Error("The page has no place to stand in.");
await openSnapshot();
createRoot(place).render(
  <QueryClientProvider client={queries}>
    <PreferencesProvider>
      <DialogsProvider>
        <App />
      </DialogsProvider>
    </PreferencesProvider>
  </QueryClientProvider>,
);
