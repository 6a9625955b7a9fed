import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import pg from "pg";

/** Options of Node that load `worker-faults.mjs` into a process of the program. */
export const withFaults = { NODE_OPTIONS: `--import ${new URL("worker-faults.mjs", import.meta.url).href}` } as const;

const bin = fileURLToPath(new URL("../bin/hallumaze.js", import.meta.url));

/** What a process of the program left when it ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A process of the program. */
export interface Program {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<Ended>;
  /** What stdout holds so far. */
  readonly printed: () => string;
  /** Resolves once stdout or stderr holds the text; rejects where the process ends before. */
  readonly says: (text: string) => Promise<void>;
}

/** A folder of a test's own, and the program run in it as a user would. */
export interface Stage {
  readonly folder: string;
  /** Where the embedded server lives unless the variables name a database. */
  readonly home: string;
  /** `more` are variables of this process alone. */
  readonly start: (words: readonly string[], more?: Readonly<Record<string, string>>) => Program;
  readonly run: (words: readonly string[]) => Promise<Ended>;
  /** Writes a spec and gives its path. */
  readonly spec: (name: string, spec: Spec) => string;
  /** Kills what still runs and removes the folder. */
  readonly clear: () => Promise<void>;
}

/** The parts of a spec that these tests vary; group A and mirage unless told. */
export interface Spec {
  readonly models: readonly (string | { readonly model: string; readonly [more: string]: unknown })[];
  readonly seeds: readonly (number | string)[];
  readonly sizes?: readonly number[];
  readonly mirage?: readonly boolean[];
  readonly retries?: { readonly tries: number };
  readonly limits?: object;
  readonly groups?: readonly string[];
  readonly maxTokens?: number;
  readonly prices?: object;
  readonly budgetUsd?: number;
  readonly judge?: object;
  readonly mode?: "live" | "batch" | "auto";
}

/** Opens a stage; `variables` are all that the program sees of HalluMaze's environment. `program`: another tree's. */
export function openStage(variables: Readonly<Record<string, string>> = {}, program: string = bin): Stage {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-e2e-"));
  // The embedded server runs under an account of its own where the tests run as root; it has to pass through.
  chmodSync(folder, 0o755);
  const home = join(folder, "home");
  const programs = new Set<ChildProcess>();
  const start: Stage["start"] = (words, more = {}) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd: folder,
      env: { ...withoutOurs(process.env), HALLUMAZE_HOME: home, ...variables, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    programs.add(child);
    void once(child, "exit").then(() => programs.delete(child));
    return describeProgram(child);
  };
  return {
    folder,
    home,
    start,
    run: (words) => start(words).ended,
    spec: (name, spec) => {
      const path = join(folder, `${name}.json`);
      writeFileSync(path, JSON.stringify({ name, groups: ["A"], sizes: [5], mirage: [true], ...spec }));
      return path;
    },
    clear: async () => {
      for (const child of programs) child.kill("SIGKILL");
      await Promise.all([...programs].map((child) => once(child, "exit")));
      const server = serverPid(home);
      if (server !== null && isAlive(server)) process.kill(server, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Address of the embedded server that runs in `home`, read as a bystander: it does not count as a client. */
export function embeddedUrl(home: string): string {
  const password = readFileSync(join(home, "postgres.password"), "utf8").trim();
  // postmaster.pid: the fourth line is the port.
  const port = readFileSync(pidFile(home), "utf8").split("\n")[3];
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

/** Process id of the embedded server of `home`; null where its data folder names none. */
export function serverPid(home: string): number | null {
  try {
    const pid = Number(readFileSync(pidFile(home), "utf8").split("\n", 1)[0]);
    return pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function pidFile(home: string): string {
  return join(home, "postgres", "data", "postmaster.pid");
}

/** Whether a process of that id runs. One that has ended and that nobody has asked after does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

function describeProgram(child: ChildProcess): Program {
  let out = "";
  let err = "";
  const listeners = new Set<() => void>();
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    for (const listener of listeners) listener();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk.toString();
    for (const listener of listeners) listener();
  });
  const ended = once(child, "close").then(
    ([code, signal]): Ended => ({ code: code as number | null, signal: signal as NodeJS.Signals | null, out, err }),
  );
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended,
    printed: () => out,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!out.includes(text) && !err.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        void ended.then(() => reject(new Error(`it ended without saying "${text}":\n${out}${err}`)));
        look();
      }),
  };
}

function withoutOurs(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) =>
        !/^(HALLUMAZE_|DATABASE_URL$|REDIS_URL$|NODE_OPTIONS$|VITEST|(ANTHROPIC|OPENAI|GOOGLE|DEEPSEEK)_)/.test(name),
    ),
  );
}

/** What the ledger holds of a sweep, in figures that a crash must not change. */
export interface Books {
  readonly cells: number;
  readonly states: Readonly<Record<string, number>>;
  /** Trials whose accepted reply is an exchange of their own. */
  readonly accepted: number;
  /** Trials with exactly one reading and one row of scores in each of the three profiles. */
  readonly scored: number;
  readonly exchanges: number;
  /** Exchanges that came after a recorded reply to the same trial: each one a call paid twice. */
  readonly repeated: number;
  readonly lateDuplicates: number;
}

/** A bystander's look at the database. */
export interface Ledger extends AsyncDisposable {
  readonly url: string;
  readonly sql: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  readonly books: (sweep: string) => Promise<Books>;
  readonly count: (condition: string) => Promise<number>;
  /** Resolves once at least `count` trials meet the condition; rejects after `timeoutMs`. */
  readonly reach: (condition: string, count: number, timeoutMs?: number) => Promise<void>;
}

/** Opens a look at a database. Before the schema is there, nothing is counted. */
export async function openLedger(url: string): Promise<Ledger> {
  const client = new pg.Pool({ connectionString: url, application_name: "bystander", max: 2 });
  // A server that is killed on purpose ends its connections too.
  client.on("error", () => undefined);
  const sql: Ledger["sql"] = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(text, [...values])).rows;
  const count = async (condition: string): Promise<number> => {
    const [table] = await sql<{ name: string | null }>("SELECT to_regclass('trials')::text AS name");
    if (!table?.name) return 0;
    const [row] = await sql<{ count: number }>(`SELECT count(*)::int AS count FROM trials t WHERE ${condition}`);
    return row?.count ?? 0;
  };
  return {
    url,
    sql,
    count,
    books: (sweep) => readBooks(sql, sweep),
    reach: async (condition, wanted, timeoutMs = 120_000) => {
      const giveUpAt = performance.now() + timeoutMs;
      for (;;) {
        const found = await count(condition);
        if (found >= wanted) return;
        if (performance.now() > giveUpAt) throw new Error(`only ${found} of ${wanted} trials with ${condition}`);
        await tick();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await client.end().catch(() => undefined);
    },
  };
}

/** Between two looks at something that no event announces. */
export function tick(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 10));
}

/** Waits until `look` gives something other than null; rejects after `timeoutMs`. */
export async function until<T>(look: () => Promise<T | null> | T | null, timeoutMs = 60_000): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    if (performance.now() > giveUpAt) throw new Error(`nothing within ${timeoutMs} ms`);
    await tick();
  }
}

async function readBooks(sql: Ledger["sql"], sweep: string): Promise<Books> {
  const states = await sql<{ state: string; count: number }>(
    `SELECT state::text, count(*)::int AS count FROM trials t JOIN sweeps s ON s.id = t.sweep_id
     WHERE s.name = $1 AND in_grid GROUP BY state ORDER BY state`,
    [sweep],
  );
  const [sums] = await sql<Omit<Books, "states" | "cells">>(
    `WITH mine AS (
       SELECT t.* FROM trials t JOIN sweeps s ON s.id = t.sweep_id WHERE s.name = $1 AND in_grid
     ), asked AS (SELECT e.* FROM exchanges e JOIN mine ON mine.id = e.trial_id)
     SELECT
       (SELECT count(*)::int FROM mine JOIN asked a ON a.id = mine.accepted_exchange_id AND a.trial_id = mine.id) AS accepted,
       (SELECT count(*)::int FROM mine WHERE (SELECT count(*) FROM readings r WHERE r.trial_id = mine.id) = 1
          AND (SELECT count(*) FROM scores c WHERE c.trial_id = mine.id) = 3) AS scored,
       (SELECT count(*)::int FROM asked) AS exchanges,
       (SELECT count(*)::int FROM asked a WHERE EXISTS (SELECT 1 FROM asked b WHERE b.trial_id = a.trial_id
          AND b.sequence < a.sequence AND b.outcome IS NULL AND NOT b.late_duplicate)) AS repeated,
       (SELECT count(*)::int FROM asked WHERE late_duplicate) AS "lateDuplicates"`,
    [sweep],
  );
  if (sums === undefined) throw new Error("a sum without a row");
  return {
    cells: states.reduce((sum, { count }) => sum + count, 0),
    states: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    ...sums,
  };
}

/** The books of a sweep in which every cell was answered once and nothing was asked twice. */
export function soundBooks(cells: number): Books {
  return {
    cells,
    states: { done: cells },
    accepted: cells,
    scored: cells,
    exchanges: cells,
    repeated: 0,
    lateDuplicates: 0,
  };
}
