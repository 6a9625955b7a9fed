import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Whether a program that tests need, and that no npm package ships, is here. */
export type ToolForTests =
  | { readonly kind: "installed"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

const tools = {
  pgbouncer: { package: "pgbouncer", places: ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"] },
  chromium: {
    package: "chromium",
    places: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  },
  promtool: { package: "prometheus", places: ["/usr/local/bin/promtool", "/usr/bin/promtool"] },
  faketime: {
    package: "faketime",
    places: ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`),
  },
} as const;

/**
 * Looks for PgBouncer, for Chromium, for Prometheus' checker, or for the library that gives a process another clock.
 *
 * With `HALLUMAZE_REQUIRE_TOOLS=1` the answer is always "installed": tests then fail instead of passing by not running.
 */
export function findTool(name: keyof typeof tools): ToolForTests {
  const { places, package: aptPackage } = tools[name];
  const path = places.find((place) => existsSync(place));
  if (path !== undefined) return { kind: "installed", path };
  if (process.env["HALLUMAZE_REQUIRE_TOOLS"] === "1") return { kind: "installed", path: places[0] ?? name };
  const reason = `${name} is not installed (apt-get install ${aptPackage})`;
  process.stderr.write(`Not tested: ${reason}.\n`);
  return { kind: "missing", reason };
}

/** Variables under which a process lives by a clock that is off by so many seconds; its timers run as ever. */
export function skewedClock(library: string, seconds: number): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: library,
    FAKETIME: `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_NO_CACHE: "0",
  };
}

/** Runs a program to its end; throws what it said where it fails. */
export function runTool(program: string, words: readonly string[]): string {
  const ended = spawnSync(program, [...words], { encoding: "utf8" });
  if (ended.status === 0) return ended.stdout;
  throw new Error(`${program} ${words[0] ?? ""} failed: ${ended.error?.message ?? `${ended.stdout}${ended.stderr}`}`);
}
