import { EventEmitter } from "node:events";

import type { Client } from "pg";

import { notAtOnce } from "./not-at-once.ts";

/** The rows of a query. */
interface Rows {
  // The driver's own type: what a row holds is the reader's to say.
  // oxlint-disable-next-line no-explicit-any
  readonly rows: any[];
}

/** What a worker holds instead of a connection of its own. */
export interface ListenClient extends EventEmitter {
  readonly query: (text: string, params?: readonly unknown[]) => Promise<Rows>;
  readonly release: () => void;
}

/** One LISTEN connection for all workers of a process. */
export interface ListenHub {
  /** A view of the shared connection: gets its notifications, and `error` when it is lost. */
  readonly connect: () => Promise<ListenClient>;
  readonly close: () => Promise<void>;
}

/** How often the connection is asked whether it still lives: a half-open one would only make each start late. */
const heartbeatMs = 10_000;

/**
 * Shares one connection among those that LISTEN.
 *
 * Every queue notifies on the same channel with its name as payload, and BullMQ's worker filters by name, so a second
 * connection would only receive the same again. When the connection is lost, all views get `error`; BullMQ then drops
 * its view and asks for a new one, which connects anew.
 */
export function createListenHub(createClient: () => Client): ListenHub {
  let current: Promise<SharedConnection> | null = null;

  const open = (): Promise<SharedConnection> => {
    if (current !== null) return current;
    const opening = openShared(createClient(), () => {
      if (current === opening) current = null;
    });
    opening.catch(() => {
      if (current === opening) current = null;
    });
    current = opening;
    return opening;
  };

  return {
    connect: async () => (await open()).view(),
    close: async () => {
      const closing = current;
      current = null;
      await closing?.then(
        (shared) => shared.end(),
        () => undefined,
      );
    },
  };
}

interface SharedConnection {
  readonly view: () => ListenClient;
  readonly end: () => Promise<void>;
}

async function openShared(client: Client, onLost: () => void): Promise<SharedConnection> {
  const views = new Set<ListenClient>();
  let lost = false;
  let last: Promise<unknown> = Promise.resolve();

  const lose = (error: Error): void => {
    if (lost) return;
    lost = true;
    clearInterval(heartbeat);
    onLost();
    void client.end().catch(() => undefined);
    for (const view of views) {
      if (view.listenerCount("error") > 0) view.emit("error", error);
    }
    views.clear();
  };
  // One at a time: pg runs one query on a connection and warns of a second.
  const query = (text: string, params?: readonly unknown[]): Promise<Rows> => {
    const answer = last.then(() => client.query(text, params === undefined ? [] : [...params]));
    last = answer.catch(() => undefined);
    return notAtOnce(answer);
  };
  const heartbeat = setInterval(() => {
    query("SELECT 1").catch((error: unknown) => lose(error instanceof Error ? error : new Error("heartbeat failed")));
  }, heartbeatMs);
  heartbeat.unref();

  client.on("error", lose);
  client.on("end", () => lose(new Error("the listening connection ended")));
  client.on("notification", (message) => {
    for (const view of views) view.emit("notification", message);
  });
  try {
    await client.connect();
  } catch (error) {
    lose(error instanceof Error ? error : new Error("cannot connect"));
    throw error;
  }

  return {
    view: () => {
      const view: ListenClient = Object.assign(new EventEmitter(), {
        query,
        release: () => {
          views.delete(view);
        },
      });
      view.setMaxListeners(0);
      views.add(view);
      return view;
    },
    end: async () => {
      lost = true;
      clearInterval(heartbeat);
      views.clear();
      await client.end();
    },
  };
}
