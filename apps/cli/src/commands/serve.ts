import { type AddCommand, type Console, exitCodes, explainError, integerBetween, UsageError } from "@hallumaze/console";
import { randomBytes } from "node:crypto";

import { createApi, listen, type PageSite } from "@hallumaze/api";
import { openHousePage } from "@hallumaze/hosting";
import { promptHash, rubricVersion } from "@hallumaze/judge";
import type { ServiceJudge } from "@hallumaze/judging";
import {
  drainDeadlineMs,
  type House,
  houseChecks,
  openHouse,
  type SolveWorker,
  startJudgeWorker,
  type Watch,
  watchHouse,
} from "@hallumaze/runtime";

import { pageHeaders, readPage } from "@hallumaze/web";

import { programVersion, readBuild } from "../env.ts";
import { checkToken, isLoopback } from "../health-port.ts";
import { chosenJudge } from "./judge.ts";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly judge?: string;
  readonly shadow?: boolean;
  readonly deadlineSeconds: number;
  readonly concurrency: number;
  readonly drainSeconds?: number;
  readonly json?: boolean;
}

/** `serve`: the HTTP API of judging with a judge worker, until it is told to stop; then it drains. */
export const addServeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("serve")
    .description("serve the HTTP API of judging, with its judge's worker, until SIGTERM or Ctrl-C")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <n>", "port; 0 takes a free one", integerBetween(0, 65_535), 4020)
    .option("--judge <provider/model>", "the judge; without one the heuristic scores")
    .option("--shadow", "while the gate is closed, have the judge run beside the heuristic")
    .option("--deadline-seconds <n>", "how long a call waits for its verdict", integerBetween(1, 600), 30)
    .option("--concurrency <n>", "judgements at once", integerBetween(1, 1000), 8)
    .option(
      "--drain-seconds <n>",
      "how long what is under way may take after the signal (default: the longest request and 15 s)",
      integerBetween(0, 3600),
    )
    .option("--json", "print address and token as JSON")
    .addHelpText(
      "after",
      "\nThe token is HALLUMAZE_API_TOKEN, or drawn anew and printed.\n\nExample:\n  $ hallumaze serve --judge sim/judge --port 4020\n",
    );
  register(command, async (options: ServeOptions) => {
    const judge = options.judge === undefined ? null : serviceJudge(console, options.judge);
    if (options.shadow && judge === null) throw new UsageError("--shadow needs a judge: --judge provider/model.");
    const given = console.variables["HALLUMAZE_API_TOKEN"] || null;
    const token = given === null ? randomBytes(24).toString("base64url") : checkToken(given);
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    await using watch = await watchHouse(house, console.environment(), await readBuild(), {
      logger: console.logger(),
      variables: console.variables,
    });
    await using page = openHousePage(house, console);
    let worker: SolveWorker | null = null;
    let site: PageSite | null = null;
    const judging = judge === null ? {} : { judge: () => (worker === null ? "it starts" : worker.whyNotReady()) };
    const checks = { ...houseChecks(house), ...judging };
    const api = createApi(
      {
        ...page.ports,
        watch: { checks, metrics: watch.metrics },
        site: () => site,
        board: () => boardLanes(house, watch.figures),
      },
      {
        token,
        judge,
        version: programVersion,
        shadow: options.shadow === true,
        deadlineMs: options.deadlineSeconds * 1000,
      },
    );
    const server = await listen(api, options);
    worker =
      judge === null
        ? null
        : startJudgeWorker({
            store: house.store,
            queue: house.queue,
            provider: house.judgeProvider,
            limiter: house.limiter,
            rehearsal: false,
            logger: console.logger(),
            concurrency: options.concurrency,
            metrics: watch.metrics,
            tracing: watch.tracing,
          });
    try {
      // A token of the environment is known to whoever set it, and stays out of logs.
      const shown = given === null ? token : null;
      if (options.json) console.out(JSON.stringify({ url: server.url, token: shown }));
      else console.out(`${server.url}\ntoken: ${shown ?? "that of HALLUMAZE_API_TOKEN"}`);
      if (!isLoopback(options.host)) {
        console.err("warning: plain HTTP shows the token to the network; put a proxy with TLS in front");
      }
      console.err(`serve: the page at ${server.url}/`);
      // Built at its first start, in seconds: until then everything else is served already.
      void readPage().then(
        (files) => {
          site = { files, headers: pageHeaders };
        },
        (error: unknown) => console.err(`warning: there is no page: ${explainError(error)}`),
      );
      console.err(`serve: the queues at ${server.url}/board, with the token as password`);
      console.err(`serve: judge ${options.judge ?? "none"}, ${house.queueName}, ${house.databaseName}`);
      await Promise.race([interrupted(console.interrupt), ...(worker === null ? [] : [worker.broken])]);
    } finally {
      const { drainSeconds } = options;
      const drainMs = drainSeconds === undefined ? drainDeadlineMs(console.environment()) : drainSeconds * 1000;
      await server.close(drainMs);
      await worker?.drain(drainMs);
    }
    console.err("serve: drained");
    return exitCodes.ok;
  });
};

/** The queues of the lanes that the ledger names, as it was last looked at. */
async function boardLanes(house: Pick<House, "boardOf">, reader: Pick<Watch["figures"], "read">) {
  const { figures, error } = await reader.read();
  if (figures === null) throw error;
  return Promise.all(figures.lanes.map(({ lane }) => house.boardOf(lane)));
}

/** The judge that a name stands for; its key has to be there before anything is asked. */
function serviceJudge(console: Console, name: string): ServiceJudge {
  const { judge: model, lane } = chosenJudge(console, name);
  const promptVersion = "llm-judge-v1";
  const identity = {
    judgeModel: `${model.provider}/${model.model}`,
    promptVersion,
    promptHash: promptHash(promptVersion),
    rubricVersion,
  };
  return { model, lane, promptVersion, identity };
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
