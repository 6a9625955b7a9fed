import { setTimeout as sleep } from "node:timers/promises";

import { promptHash, rubricVersion } from "@hallumaze/judge";
import type { CalibrationRecord, ServiceJudge } from "@hallumaze/judging";

import type { ApiPorts } from "../src/api-ports.ts";
import { type ApiSettings, createApi } from "../src/create-api.ts";

/** What a test has the judge do with the next calls. */
export type JudgePlay = "answer" | "outage" | "refuse";

/** An API over some ledger and queue, with a judge that a test directs. */
export interface ApiStage {
  readonly call: (method: "GET" | "POST", path: string, given?: CallOptions) => Promise<Response>;
  /** Calls that the judge has got. */
  readonly judgeCalls: () => number;
  readonly play: (what: JudgePlay) => void;
  /** Has the judge's calls wait until `release`. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly addCalibration: (change?: Partial<CalibrationRecord>) => Promise<void>;
  /** A result without scenario and response, as a trial's is; gives its id. */
  readonly addBareResult: () => Promise<string>;
}

/** One call. From this machine and with the token unless told. */
export interface CallOptions {
  readonly body?: unknown;
  readonly token?: string | null;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a stage with these settings. */
export type OpenStage = (settings?: Partial<ApiSettings>) => Promise<ApiStage>;

/** The token of every stage. */
export const token = "a-token-of-the-tests";

/** The judge of every stage. */
export const stageJudge: ServiceJudge = {
  model: { provider: "sim", model: "judge", baseUrl: null, temperature: 0, maxTokens: 4000, params: {}, keyEnv: null },
  lane: "judge.sim.judge",
  promptVersion: "llm-judge-v1",
  identity: {
    judgeModel: "sim/judge",
    promptVersion: "llm-judge-v1",
    promptHash: promptHash("llm-judge-v1"),
    rubricVersion,
  },
};

/** A list of the criterion's words: the heuristic is taken in (L3), the judge is not (L1). */
export const keywordList = {
  scenario: {
    prompt: "Why does a queue in front of a busy server keep short requests fast?",
    expected_l3: "Explains backpressure, fairness and admission, and carries the principle over to another case.",
  },
  response: "backpressure, fairness, admission, queue, server, requests",
} as const;

/** A calibration that opens the stage judge's gate. */
export function openingCalibration(change: Partial<CalibrationRecord> = {}): CalibrationRecord {
  const confusion = {
    counts: [
      [18, 0, 0],
      [1, 17, 0],
      [0, 0, 18],
    ],
    unscored: [0, 0, 0],
  };
  return {
    goldSetId: "gold",
    split: "test",
    ...stageJudge.identity,
    items: 54,
    agreed: 53,
    open: true,
    refusals: [],
    reportJson: JSON.stringify({ confusion }),
    ...change,
  };
}

/** A door that the judge's calls wait at; open at first. */
export function createDoor(): {
  readonly hold: () => void;
  readonly release: () => void;
  readonly passed: () => Promise<void>;
} {
  let waiting: (() => void)[] = [];
  let isHeld = false;
  return {
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      for (const pass of waiting) pass();
      waiting = [];
    },
    passed: async () => {
      if (isHeld) await new Promise<void>((pass) => waiting.push(pass));
    },
  };
}

/** The caller's side of a stage. */
export function createCaller(
  ports: Pick<ApiPorts, "store" | "queue"> & Partial<ApiPorts>,
  settings: Partial<ApiSettings> = {},
): ApiStage["call"] {
  const api = createApi(
    {
      now: Date.now,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      onError: () => undefined,
      ...ports,
    },
    { token, judge: stageJudge, version: "test", ...settings },
  );
  return async (method, path, given = {}) => {
    const shown = given.token === undefined ? token : given.token;
    const body = given.body === undefined || typeof given.body === "string" ? given.body : JSON.stringify(given.body);
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        host: "localhost",
        "content-type": "application/json",
        // As clients send it over the wire.
        ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
        ...(shown === null ? {} : { authorization: `Bearer ${shown}` }),
        ...given.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const socket = { remoteAddress: given.address ?? "127.0.0.1" };
    return api.fetch(request, { incoming: { socket } as never });
  };
}
