/** The page's languages. */
export type PageLanguage = "en" | "ko";

/** What stands where a number is not known. Never 0. */
export const unknown = "—";

/** A number with so many digits after the point; `unknown` for null. */
export function formatNumber(value: number | null, digits: number, language: PageLanguage): string {
  if (value === null || !Number.isFinite(value)) return unknown;
  return new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    value,
  );
}

/** A count with grouped digits; `unknown` for null. */
export function formatCount(value: number | null, language: PageLanguage): string {
  return formatNumber(value, 0, language);
}

/** A share 0 … 1 as a percentage with at most one digit after the point; `unknown` for null. */
export function formatShare(value: number | null, language: PageLanguage): string {
  if (value === null || !Number.isFinite(value)) return unknown;
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(value);
}

/** US dollars: cents from one dollar on, below that as many digits as show two that count; `unknown` for null. */
export function formatUsd(value: number | null, language: PageLanguage): string {
  if (value === null || !Number.isFinite(value)) return unknown;
  const small = value !== 0 && Math.abs(value) < 1;
  return new Intl.NumberFormat(language, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    ...(small ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  }).format(value);
}

const units: Readonly<Record<PageLanguage, readonly [string, string, string, string, string]>> = {
  en: ["ms", "s", "min", "h", "d"],
  ko: ["ms", "초", "분", "시간", "일"],
};

/** A duration in its two greatest units, or milliseconds below a second; `unknown` for null. */
export function formatDuration(ms: number | null, language: PageLanguage): string {
  if (ms === null || !Number.isFinite(ms)) return unknown;
  const [milli, second, minute, hour, day] = units[language];
  if (ms < 1000) return `${Math.round(ms)} ${milli}`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${formatNumber(seconds, seconds < 10 ? 1 : 0, language)} ${second}`;
  const total = Math.round(seconds);
  if (total < 3600) return two(Math.floor(total / 60), minute, total % 60, second);
  if (total < 86_400) return two(Math.floor(total / 3600), hour, Math.floor((total % 3600) / 60), minute);
  return two(Math.floor(total / 86_400), day, Math.floor((total % 86_400) / 3600), hour);
}

/** A moment as date and time of the reader's own zone; `unknown` for null or what is no moment. */
export function formatMoment(iso: string | null, language: PageLanguage): string {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(at)) return unknown;
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }).format(at);
}

function two(great: number, greatUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${great} ${greatUnit}` : `${great} ${greatUnit} ${small} ${smallUnit}`;
}
