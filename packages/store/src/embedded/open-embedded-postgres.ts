import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import pg from "pg";

import { StoreError } from "../errors.ts";
import { describeThisProcess, isKnownDead } from "../process-identity.ts";
import { prepareBinaries } from "./binaries.ts";
import { chooseAccount, chooseDataFolder, openHome, readOrMakePassword, withFolderLock } from "./data-folder.ts";
import { initialise, isServerThere, type ServerContext, startOrFind, stop } from "./server.ts";

/** The embedded server as one client holds it. */
export interface EmbeddedPostgres {
  /** Connection URL, password included: do not print it. */
  readonly url: string;
  /** Folder of the data: in home, or elsewhere where Postgres' account cannot reach home. Worth printing. */
  readonly dataFolder: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Leaves the server; the last client to leave stops it. Safe to repeat. */
  readonly close: () => Promise<void>;
}

/** Long enough for a first start on a slow disk, and for a stop that writes a large checkpoint. */
const lockWaitMs = 180_000;
let opened = 0;

/**
 * Starts the real PostgreSQL that belongs to `home`, or joins it where it runs already. Processes that come at once share
 * one server; a client that was killed does not count; one that a crash has left running is joined and stopped like any.
 * While it is held, a server that was killed is started again at the same port, where pools find it by themselves.
 *
 * `home` is a folder (made where missing); `settings` are Postgres settings for a server that this call starts.
 * Throws a StoreError whose code begins with `embedded-`.
 */
export async function openEmbeddedPostgres(options: {
  readonly home: string;
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<EmbeddedPostgres> {
  const home = openHome(options.home);
  return withFolderLock(home.lockFile, lockWaitMs, async () => {
    const account = chooseAccount();
    const places = { ...home, ...chooseDataFolder(home.home, account) };
    const context = { places, account, binaries: prepareBinaries(account), settings: options.settings ?? {} };
    const password = readOrMakePassword(places.passwordFile, isInitialised(context));
    await initialise(context, password);
    const { server, started } = await startOrFind(context);
    // A container that is gone cannot be asked whether its clients live; their server has gone with it.
    if (started) removeClients(places.clients, (workerId) => isKnownDead(workerId) || !isOfThisHost(workerId));
    const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${server.port}/postgres`;
    await checkAnswers(url, places.passwordFile);
    const entry = register(places.clients);
    const stopWatching = watch(context);
    let closing: Promise<void> | null = null;
    return {
      url,
      dataFolder: places.folder,
      pid: server.pid,
      close: () => {
        closing ??= stopWatching().then(() => leave(context, entry));
        return closing;
      },
    };
  });
}

const watchEveryMs = 500;
const watchAfterFailureMs = 10_000;

/** Starts the server again when it has gone without being asked to; gives what ends the watch. */
function watch(context: ServerContext): () => Promise<void> {
  let isOver = false;
  let reviving: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;

  const check = async (): Promise<void> => {
    let nextMs = watchEveryMs;
    try {
      if (!isServerThere(context.places)) {
        await withFolderLock(context.places.lockFile, lockWaitMs, async () => {
          await startOrFind(context);
        });
      }
    } catch {
      // Every statement of the store says by now that the database does not answer; it may be startable later.
      nextMs = watchAfterFailureMs;
    }
    if (!isOver) schedule(nextMs);
  };
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      reviving = check();
    }, ms);
    timer.unref();
  };
  schedule(watchEveryMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
    return reviving;
  };
}

async function leave(context: ServerContext, entry: string): Promise<void> {
  const { places } = context;
  await withFolderLock(places.lockFile, lockWaitMs, async () => {
    rmSync(entry, { force: true });
    removeClients(places.clients, isKnownDead);
    if (readdirSync(places.clients).length === 0) await stop(context);
  });
}

function isInitialised({ places }: ServerContext): boolean {
  return existsSync(path.join(places.pgdata, "PG_VERSION")) && !existsSync(path.join(places.folder, "initialising"));
}

/** One file a client, holding its worker id: a process that opens twice is two clients. */
function register(clients: string): string {
  opened += 1;
  const workerId = describeThisProcess();
  const entry = path.join(clients, `${workerId.split("/").slice(1).join("-")}-${opened}`);
  writeFileSync(entry, workerId);
  return entry;
}

function isOfThisHost(workerId: string): boolean {
  return workerId.split("/", 1)[0] === describeThisProcess().split("/", 1)[0];
}

function removeClients(clients: string, isGone: (workerId: string) => boolean): void {
  for (const name of readdirSync(clients)) {
    const entry = path.join(clients, name);
    if (isGone(readFileSync(entry, "utf8"))) rmSync(entry, { force: true });
  }
}

async function checkAnswers(url: string, passwordFile: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => {
    // A server that ends while it is asked rejects the query below; the event tells nothing more.
  });
  try {
    await client.connect();
    await client.query("SELECT 1");
  } catch (cause) {
    const code = (cause as { readonly code?: unknown }).code;
    if (code === "28P01") {
      throw new StoreError(
        "embedded-password",
        `The embedded Postgres refuses the password in ${passwordFile}: the file is not the one its data was made with.`,
      );
    }
    throw new StoreError(
      "embedded-start-failed",
      `The embedded Postgres started but does not answer (${String(code ?? cause)}).`,
      {
        retry: true,
      },
    );
  } finally {
    await client.end();
  }
}
