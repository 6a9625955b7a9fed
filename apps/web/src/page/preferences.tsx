import { fill, type PageLanguage, type Theme, type WordKey, wordOr, words } from "@hallumaze/display";
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from "react";

/** How the page is to look: by the system, or as the reader chose. */
export type ThemeChoice = "system" | Theme;

/** The reader's language and light, and the words in that language. */
export interface Preferences {
  readonly language: PageLanguage;
  readonly setLanguage: (language: PageLanguage) => void;
  readonly themeChoice: ThemeChoice;
  readonly setThemeChoice: (choice: ThemeChoice) => void;
  /** The light that is in force. */
  readonly theme: Theme;
  /** A sentence of the page, with its places filled. */
  readonly t: (key: WordKey, values?: Readonly<Record<string, string | number>>) => string;
  /** A word of one of the service's closed sets, or itself where this page does not know it. */
  readonly word: (set: string, name: string) => string;
}

const Context = createContext<Preferences | null>(null);
const stored = { language: "hallumaze.language", theme: "hallumaze.theme" };

/** The reader's preferences. Only below {@link PreferencesProvider}. */
export function usePreferences(): Preferences {
  const preferences = use(Context);
  if (preferences === null) throw new Error("No preferences above this part of the page.");
  return preferences;
}

/** Keeps language and light, in this browser only, and sets them on the document. */
export function PreferencesProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState<PageLanguage>(firstLanguage);
  const [themeChoice, setThemeChoice] = useState<ThemeChoice>(firstTheme);
  const systemDark = useMedia("(prefers-color-scheme: dark)");
  const theme: Theme = themeChoice === "system" ? (systemDark ? "dark" : "light") : themeChoice;
  useEffect(() => {
    document.documentElement.lang = language;
    localStorage.setItem(stored.language, language);
  }, [language]);
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    localStorage.setItem(stored.theme, themeChoice);
  }, [theme, themeChoice]);
  const preferences = useMemo<Preferences>(
    () => ({
      language,
      setLanguage,
      themeChoice,
      setThemeChoice,
      theme,
      t: (key, values = {}) => fill(words[language][key], values),
      word: (set, name) => wordOr(language, set, name),
    }),
    [language, themeChoice, theme],
  );
  return <Context value={preferences}>{children}</Context>;
}

/** Whether a media query holds, followed while it changes. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setHolds(list.matches);
    follow();
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return holds;
}

function firstLanguage(): PageLanguage {
  const kept = localStorage.getItem(stored.language);
  if (kept === "en" || kept === "ko") return kept;
  return navigator.language.toLowerCase().startsWith("ko") ? "ko" : "en";
}

function firstTheme(): ThemeChoice {
  const kept = localStorage.getItem(stored.theme);
  return kept === "light" || kept === "dark" ? kept : "system";
}
