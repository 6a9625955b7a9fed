import { parseRedisUrl, showRedisUrl } from "./redis-address.ts";

/** A server's URL as it may be shown: scheme, host, port and path; no user, password or query. */
export function redactUrl(url: string): string {
  if (isRedis(url)) return showRedisUrl(url);
  if (!URL.canParse(url)) return "(an invalid URL)";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** A text without the URL itself and its passwords, in plain or percent-encoded form. */
export function redactText(text: string, url: string): string {
  return secretsOf(url).reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}

function secretsOf(url: string): readonly string[] {
  const passwords = isRedis(url) ? redisPasswords(url) : [URL.canParse(url) ? new URL(url).password : ""];
  const found = passwords.filter((password) => password !== "");
  if (found.length === 0) return [];
  return [url, ...found.flatMap((password) => [password, decodeOrKeep(password), encodeURIComponent(password)])];
}

function redisPasswords(url: string): readonly string[] {
  const parsed = parseRedisUrl(url);
  if (parsed.kind === "unusable") return [/:\/\/[^:@/]*:([^@]+)@/.exec(url)?.[1] ?? ""];
  return [parsed.address.password ?? "", parsed.address.sentinelPassword ?? ""];
}

function isRedis(url: string): boolean {
  return /^rediss?[+:]/i.test(url);
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
