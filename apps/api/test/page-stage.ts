import { setTimeout as sleep } from "node:timers/promises";

import { type ProviderPort, submitSweep, type SweepRecord } from "@hallumaze/engine";
import { type LedgerViews, openLedgerViews } from "@hallumaze/ledger-views";
import {
  findDefaultLimits,
  type House,
  openHouse,
  openLaneCatalog,
  openLogger,
  parseEnvironment,
  startSolveWorker,
} from "@hallumaze/runtime";
import { parseSpec } from "@hallumaze/sweep";
import { createDatabase } from "@hallumaze/testkit";
import { vi } from "vitest";
import type { z } from "zod";

import type { ApiPorts } from "../src/api-ports.ts";
import { type ApiSettings, createApi } from "../src/create-api.ts";
import { listen, type Listening } from "../src/listen.ts";
import { type CallOptions, createCaller, token } from "./api-stage.ts";

/** A ledger of a test's own with the page's routes over it. */
export interface PageStage {
  readonly house: House;
  readonly views: LedgerViews;
  readonly databaseUrl: string;
  /** Calls an API over the stage, with the token and from this machine unless told. */
  readonly call: (method: "GET" | "POST", path: string, given?: CallOptions) => Promise<Response>;
  /** Submits a sweep; cells of size 5 of `dfs-honest` unless told. */
  readonly submit: (name: string, asked?: Readonly<Record<string, unknown>>) => Promise<SweepRecord>;
  /** Works until every trial of the sweep has ended. */
  readonly finish: (sweep: SweepRecord, provider?: ProviderPort) => Promise<void>;
  /** What somebody changed, as the log has it. */
  readonly changes: readonly string[];
  /** The API on a port of its own; the caller closes it. */
  readonly serve: (settings?: Partial<ApiSettings>, port?: number) => Promise<Listening>;
  readonly close: () => Promise<void>;
}

/** Opens the stage. */
export async function openPageStage(): Promise<PageStage> {
  const { url: databaseUrl, drop } = await createDatabase();
  const logger = openLogger("silent");
  const house = await openHouse(parseEnvironment({ DATABASE_URL: databaseUrl }), logger, {});
  const views = openLedgerViews({ databaseUrl });
  const changes: string[] = [];
  const ports: ApiPorts = {
    store: house.store,
    queue: house.queue,
    page: {
      views,
      labels: views,
      store: house.store,
      queue: house.queue,
      limiter: house.limiter,
      defaultLimits: findDefaultLimits,
      refreshLanes: () => openLaneCatalog(house.store, house.limiter).refresh(),
      onChange: (_fields, message) => changes.push(message),
    },
    now: Date.now,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    onError: () => undefined,
  };
  return {
    house,
    views,
    databaseUrl,
    changes,
    call: createCaller(ports, { requestsPerMinute: 100_000 }),
    submit: async (name, asked = {}) => {
      const text = JSON.stringify({ name, models: ["sim/dfs-honest"], seeds: [1, 2], sizes: [5], ...asked });
      const { spec } = parseSpec(text, { fileName: "stage.json" });
      const provenance = { gitCommit: null, gitDirty: null, programVersion: "test", nodeVersion: process.version };
      const { signal } = new AbortController();
      return (await submitSweep(house, spec, { provenance, fresh: false, rehearsal: false, signal })).sweep;
    },
    finish: async (sweep, provider = house.provider) => {
      const worker = startSolveWorker({
        store: house.store,
        queue: house.queue,
        limiter: house.limiter,
        provider,
        logger,
        rehearsal: false,
        concurrency: 8,
        lanes: null,
      });
      await vi.waitFor(
        async () => {
          const { models } = await house.store.progress(sweep.sweepId);
          const open = models.reduce((sum, { states }) => sum + states.planned + states.queued + states.running, 0);
          if (open > 0) throw new Error(`${open} trials are open`);
        },
        { timeout: 40_000, interval: 50 },
      );
      await worker.drain(5000);
    },
    serve: (settings = {}, port = 0) =>
      listen(createApi(ports, { token, judge: null, version: "1.2.3", ...settings }), { host: "127.0.0.1", port }),
    close: async () => {
      await views.close();
      await house[Symbol.asyncDispose]();
      await drop();
    },
  };
}

/** The body of an answer, held against its schema. */
export async function expectAnswer<Schema extends z.ZodType>(
  answer: Response | Promise<Response>,
  status: number,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== status) throw new Error(`expected ${status}, got ${response.status}: ${text.slice(0, 500)}`);
  return schema.parse(JSON.parse(text));
}
