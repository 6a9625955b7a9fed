// Four hosts that share only Redis, Postgres and the vendor's server, each by its address: network namespaces on a bridge,
// with names, homes and clocks of their own, up to three minutes off. They finish one sweep; prints as JSON what the
// server saw and what the ledger keeps. Needs root, iproute2 and libfaketime.
// npm run hosts -w apps/cli [-- TRIALS]
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis, findTool, runTool, skewedClock } from "@hallumaze/testkit";

import { openLedger, openStage } from "../test/program-stage.ts";
import { reckon } from "./chaos-reckon.ts";
import { chaosModel, chaosSpec } from "./chaos-stage.ts";

const cells = Number(process.argv[2] ?? 1000);
const skewsSeconds = [180, -180, 60, -90] as const;
const bin = fileURLToPath(new URL("../bin/hallumaze.js", import.meta.url));
const tool = findTool("faketime");
if (tool.kind === "missing") throw new Error(tool.reason);
const library = tool.path;
const network = `10.${77 + (process.pid % 100)}.${process.pid % 250}`;
const bridge = `hm${process.pid}`;
const address = `${network}.1`;

const closing: (() => unknown)[] = [];
const folder = mkdtempSync(join(tmpdir(), "hallumaze-hosts-"));
try {
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  process.stdout.write(`${JSON.stringify(await run(), null, 2)}\n`);
} finally {
  for (const close of closing.reverse()) await Promise.resolve(close()).catch(() => undefined);
}

/** A host of the network: words run on it as a process of its own. */
interface Host {
  readonly name: string;
  readonly skewSeconds: number;
  readonly start: (words: readonly string[]) => ChildProcess;
}

async function run(): Promise<object> {
  openNetwork();
  const mock = await startMockProviders({
    host: address,
    seed: 4,
    latency: { baseMs: 300 },
    logLimit: 1_000_000,
    script: [
      { name: "429", probability: 0.02, fail: { kind: "rate_limited", retryAfterMs: 1000 } },
      { name: "529", probability: 0.02, fail: "overloaded" },
    ],
  });
  closing.push(mock.close);
  const redis = await createRedis({ words: ["--bind", address, "127.0.0.1", "--protected-mode", "no"] });
  closing.push(redis.drop);
  const database = await createDatabase();
  closing.push(database.drop);
  const databaseUrl = await relay(database.url);
  const variables = {
    ...mock.environment(),
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url.replace("127.0.0.1", address),
    HALLUMAZE_CALL_TIMEOUT_SECONDS: "60",
  };
  const hosts = skewsSeconds.map((skew, index) => openHost(index + 2, skew, variables));
  const clocks = await Promise.all(hosts.map(readClock));

  const stage = openStage();
  closing.push(stage.clear);
  const spec = stage.spec("hosts", chaosSpec(cells));
  const [first] = hosts;
  if (first === undefined) throw new Error("no host");
  await succeed(first.start([process.execPath, bin, "submit", spec]));
  const startedMs = performance.now();
  const ledger = await openLedger(database.url);
  closing.push(() => ledger[Symbol.asyncDispose]());
  const words = [process.execPath, bin, "worker", "--role", "solve", "--concurrency", "8"];
  const workers = hosts.map((host) => host.start(words));
  await ledger.reach("state IN ('done', 'failed')", cells, 1_800_000);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(workers.map(succeed));

  const shares = await ledger.sql<{ host: string; exchanges: number }>(
    "SELECT split_part(worker_id, '/', 1) AS host, count(*)::int AS exchanges FROM exchanges GROUP BY 1 ORDER BY 1",
  );
  const answered = new Map<string, number>();
  for (const { bodyText, end } of mock.requests()) {
    if (end === 200) answered.set(bodyText, (answered.get(bodyText) ?? 0) + 1);
  }
  const reckoning = await reckon({ ledger, mock }, "hosts");
  const { byRule } = mock.counts();
  return {
    model: chaosModel,
    clocks,
    seconds,
    loadAverage: loadavg(),
    shares,
    cellsAnsweredByTheServer: answered.size,
    cellsAnsweredTwice: [...answered.values()].filter((count) => count > 1).length,
    byRule,
    ...reckoning,
  };
}

function openNetwork(): void {
  runTool("ip", ["link", "add", bridge, "type", "bridge"]);
  closing.push(() => runTool("ip", ["link", "del", bridge]));
  runTool("ip", ["addr", "add", `${address}/24`, "dev", bridge]);
  runTool("ip", ["link", "set", bridge, "up"]);
}

function openHost(number: number, skewSeconds: number, variables: Readonly<Record<string, string>>): Host {
  const name = `${bridge}-${number}`;
  const [inner, outer] = [`v${process.pid}i${number}`, `v${process.pid}o${number}`];
  runTool("ip", ["netns", "add", name]);
  closing.push(() => runTool("ip", ["netns", "del", name]));
  runTool("ip", ["link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name]);
  runTool("ip", ["link", "set", outer, "master", bridge, "up"]);
  runTool("ip", ["-n", name, "addr", "add", `${network}.${number}/24`, "dev", inner]);
  for (const device of ["lo", inner]) runTool("ip", ["-n", name, "link", "set", device, "up"]);
  const skewed = Object.entries(skewedClock(library, skewSeconds)).map(([key, value]) => `${key}=${value}`);
  return {
    name,
    skewSeconds,
    start: (words) => {
      // All of them give way to the next, so that a signal reaches the program itself.
      const chain = ["netns", "exec", name, "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name, "env"];
      const child = spawn("ip", [...chain, ...skewed, ...words], {
        cwd: folder,
        env: { PATH: process.env["PATH"], ...variables, HALLUMAZE_HOME: join(folder, name) },
        stdio: ["ignore", "pipe", "pipe"],
      });
      closing.push(() => child.kill("SIGKILL"));
      return child;
    },
  };
}

/** How far the host's clock is off, in seconds, as a program on it reads it. */
async function readClock(host: Host): Promise<{ readonly host: string; readonly skewSeconds: number }> {
  const told = await succeed(host.start([process.execPath, "-p", "Date.now()"]));
  return { host: host.name, skewSeconds: Math.round((Number(told) - Date.now()) / 1000) };
}

/** Waits for the end of a process and gives what it printed; throws what it said where it fails. */
async function succeed(child: ChildProcess): Promise<string> {
  const said: string[] = [];
  const printed: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  child.stdout?.on("data", (chunk: Buffer) => printed.push(chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`a process ended with ${code}:\n${said.join("")}`);
  return printed.join("");
}

/** The database by the bridge's address: the server itself listens on the loopback alone. */
async function relay(url: string): Promise<string> {
  const inner = new URL(url);
  const server = createServer((near) => {
    const far = connect(Number(inner.port), inner.hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on("error", () => void (near.destroy(), far.destroy()));
  });
  server.listen(0, address);
  await once(server, "listening");
  closing.push(() => server.close());
  const port = (server.address() as { readonly port: number }).port;
  const outer = new URL(url);
  outer.host = `${address}:${port}`;
  return outer.href;
}
