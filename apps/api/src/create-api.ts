import { randomUUID } from "node:crypto";

import { problemMediaType, type ReadyCheck } from "@hallumaze/contract";
import type { Consensus, ServiceJudge } from "@hallumaze/judging";
import { OpenAPIHono } from "@hono/zod-openapi";
import { bodyLimit } from "hono/body-limit";
import { compress } from "hono/compress";
import { secureHeaders } from "hono/secure-headers";

import type { ApiPorts } from "./api-ports.ts";
import type { PagePorts } from "./page-ports.ts";
import { boundedQueue, boundedStore } from "./bounded-calls.ts";
import { type ApiEnv, guardAccess, limitRate } from "./guard-access.ts";
import { errorResponse, ProblemError, problemResponse } from "./problems.ts";
import { addBenchmark } from "./serve-benchmark.ts";
import { addBoard } from "./serve-board.ts";
import { addEvents } from "./serve-events.ts";
import { addExperiments } from "./serve-experiments.ts";
import { addFiles, isPageFile } from "./serve-files.ts";
import { addJudges } from "./serve-judges.ts";
import { addLabelling } from "./serve-labelling.ts";
import { addPeople } from "./serve-people.ts";
import { addRanking } from "./serve-ranking.ts";
import { addSteering } from "./serve-steering.ts";
import { addSweeps } from "./serve-sweeps.ts";
import { addWatch } from "./watch-routes.ts";

/** How the API behaves. Times in milliseconds. */
export interface ApiSettings {
  /** What writes, and all that comes from elsewhere, must show. */
  readonly token: string;
  /** Null: no judge is asked, the heuristic scores. */
  readonly judge: ServiceJudge | null;
  readonly version: string;
  /** True: while the gate is closed, the judge runs beside the heuristic. False unless told. */
  readonly shadow?: boolean;
  readonly consensus?: Consensus;
  /** How long an auto-score call waits for its verdict. 30 s unless told. */
  readonly deadlineMs?: number;
  /** Longest time for one call to ledger or queue. 5 s unless told. */
  readonly storeTimeoutMs?: number;
  /** Longest time for an answer that is worked out from a whole sweep. 30 s unless told. */
  readonly workMs?: number;
  /** Between two looks for changes while somebody listens, and between two signs of life to a listener: 1 s and 15 s. */
  readonly lookMs?: number;
  readonly beatMs?: number;
  /** Longest time for ledger and queue to say that they are there. 2 s unless told. */
  readonly pingMs?: number;
  /** Largest body, in bytes. 1 MiB unless told. */
  readonly maxBodyBytes?: number;
  /** Of one address. 600 unless told. */
  readonly requestsPerMinute?: number;
}

/** The API: answers requests; `stop` ends the waiting ones with their poll address. */
export interface Api {
  readonly fetch: (request: Request, bindings?: ApiEnv["Bindings"]) => Response | Promise<Response>;
  readonly stop: () => void;
}

/** The consensus of requests that stand in no sweep. SOURCE: seed, section 5 (confidence < 0.6). */
const defaultConsensus: Consensus = { consensusBelow: 0.6, repeats: 1 };

/** Creates the HTTP API of judging. It opens nothing and reads no environment; `listen` puts it on a port. */
export function createApi(ports: ApiPorts, settings: ApiSettings): Api {
  const { storeTimeoutMs = 5000, pingMs = 2000, maxBodyBytes = 1_048_576, requestsPerMinute = 600 } = settings;
  const stop = new AbortController();
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (checked) => {
      if (checked.success) return;
      const errors = checked.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
      throw new ProblemError("bad-request", { detail: "Some fields are not right.", errors });
    },
  });
  app.onError((error) => errorResponse(error, ports.onError));
  app.notFound(() => problemResponse("not-found"));
  app.use(secureHeaders({ crossOriginResourcePolicy: "same-origin" }));
  // The page's scripts and a large grid come to a third and less; events are sent as they are.
  app.use(compress());
  app.use(limitRate(requestsPerMinute));
  app.use(guardAccess(settings.token, (path) => isPageFile(ports.site, path)));
  const limitBody = bodyLimit({ maxSize: maxBodyBytes, onError: () => problemResponse("body-too-large") });
  // Only a length that is stated can be held to its limit here: a body without one would have to be copied, which Node's
  // own requests do not allow. One that announces no body has none.
  app.use(async (c, next) => {
    if (c.req.header("transfer-encoding") !== undefined) return problemResponse("length-required");
    return c.req.header("content-length") === undefined ? next() : limitBody(c, next);
  });
  addWatch(app, { checks: pings(ports, pingMs), metrics: null, ...ports.watch, onError: ports.onError }, pingMs + 500);
  if (ports.board !== undefined) addBoard(app, ports.board, ports.onError);
  addBenchmark(
    app,
    {
      ...ports,
      store: boundedStore(ports.store, storeTimeoutMs),
      queue: boundedQueue(ports.queue, storeTimeoutMs),
    },
    {
      judge: settings.judge,
      consensus: settings.consensus ?? defaultConsensus,
      shadow: settings.shadow ?? false,
      deadlineMs: settings.deadlineMs ?? 30_000,
      pingMs,
    },
    stop.signal,
  );
  if (ports.page !== undefined) addPage(app, ports, ports.page, settings, stop.signal);
  if (ports.site !== undefined) addFiles(app, ports.site);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: {
      title: "HalluMaze Sweeps",
      version: settings.version,
      description: `Scores responses by a judge or, until it is calibrated, by a heuristic. Errors are ${problemMediaType}.`,
    },
  });
  return { fetch: (request, bindings) => app.fetch(request, bindings), stop: () => stop.abort() };
}

/** Adds all that the page reads and changes. */
function addPage(
  app: OpenAPIHono<ApiEnv>,
  { now, sleep, onError }: ApiPorts,
  page: PagePorts,
  { version, judge, storeTimeoutMs = 5000, workMs = 30_000, lookMs = 1000, beatMs = 15_000 }: ApiSettings,
  stop: AbortSignal,
): void {
  const bounds = { callMs: storeTimeoutMs, workMs };
  addSweeps(app, page, bounds, now);
  addRanking(app, page, bounds, now);
  addExperiments(app, page, bounds, now, stop);
  addSteering(app, page, bounds);
  addPeople(app, page, bounds);
  addJudges(app, page, bounds, judge);
  addLabelling(app, page, bounds);
  const settings = { version, run: randomUUID().slice(0, 8), lookMs, beatMs };
  addEvents(app, { views: page.views, sleep, onError }, settings, bounds, stop);
}

/** What every role needs, where nobody says more. */
function pings({ store, queue, onError }: ApiPorts, pingMs: number): Readonly<Record<string, ReadyCheck>> {
  const answers = async (ping: Promise<void>): Promise<string | null> => {
    try {
      await ping;
      return null;
    } catch (error) {
      onError(error);
      return "no answer";
    }
  };
  return { database: () => answers(store.ping(pingMs)), queue: () => answers(queue.ping(pingMs)) };
}
