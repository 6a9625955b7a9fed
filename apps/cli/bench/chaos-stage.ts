// The servers of a chaos run: a provider that fails by script, Redis and PostgreSQL behind proxies that take the network
// away, and the program on them.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type MockProviders, type MockProvidersOptions, startMockProviders } from "@hallumaze/mock-providers";
import {
  createFaultProxy,
  createPostgresServer,
  createRedis,
  type DisposableRedis,
  type FaultProxy,
  type PostgresServer,
} from "@hallumaze/testkit";

import { type Ledger, openLedger, openStage, type Spec, type Stage } from "../test/program-stage.ts";

/** The models under chaos; their prices make every lost request cost something. */
export const chaosModel = "anthropic/claude-sonnet-5-5";
export const chaosJudge = "openai/gpt-4o-judge";
/** US dollars for a million tokens of either model. */
export const usdPerMillion = { input: 3, output: 15 } as const;
/** Highest price of one request here, in US dollars: 10,000 tokens in and as many out. */
export const requestUsdMax = 0.18;

/** A sweep of one trial a seed; without `rpm` its limits never hold it back. */
export function chaosSpec(
  cells: number,
  given: { readonly judged?: boolean; readonly rpm?: number; readonly tries?: number } = {},
): Spec {
  const models = given.judged === true ? [chaosModel, chaosJudge] : [chaosModel];
  const [rpm, concurrency] = [given.rpm ?? 1e6, 1000];
  // What the vendor's default of such a model limits is named, else it would hold.
  const limitsOf = (model: string) =>
    model === chaosJudge ? { rpm, tpm: 1e9, concurrency } : { rpm, inputTpm: 1e9, outputTpm: 1e9, concurrency };
  return {
    models: [chaosModel],
    seeds: [`1..${cells}`],
    // One trial in a million would fail all of its tries by the script alone.
    retries: { tries: given.tries ?? 8 },
    maxTokens: 2500,
    prices: Object.fromEntries(models.map((model) => [model, usdPerMillion])),
    limits: Object.fromEntries(models.map((model) => [model, limitsOf(model)])),
    ...(given.judged === true ? { judge: { models: [chaosJudge] } } : {}),
  };
}

/** A disk that can be filled; null where none may be mounted here. */
export interface Disk {
  readonly folder: string;
  /** Takes all that is free. */
  readonly fill: () => void;
  readonly empty: () => void;
}

/** The servers, and the program on them. */
export interface ChaosStage extends AsyncDisposable {
  readonly stage: Stage;
  /** Past the proxies. */
  readonly ledger: Ledger;
  readonly mock: MockProviders;
  readonly redis: DisposableRedis;
  readonly redisProxy: FaultProxy;
  readonly postgres: PostgresServer;
  readonly postgresProxy: FaultProxy;
  readonly disk: Disk | null;
  /** Past the proxies: for the look at what is left in queue and limiter. */
  readonly direct: { readonly databaseUrl: string; readonly redisUrl: string };
}

/** Opens the servers; workers give a call up after `callTimeoutSeconds`. With `disk` PostgreSQL's data is on one of its own. */
export async function openChaos(
  options: MockProvidersOptions,
  callTimeoutSeconds: number,
  withDisk = false,
): Promise<ChaosStage> {
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).reverse()) await one();
  };
  try {
    const mock = await startMockProviders({ ...options, logLimit: 100_000 });
    closing.push(mock.close);
    const redis = await createRedis({ appendOnly: true });
    closing.push(redis.drop);
    const disk = withDisk ? mountDisk(closing) : null;
    const postgres = await createPostgresServer(disk?.folder);
    closing.push(postgres.drop);
    const redisProxy = await createFaultProxy(redis.url);
    closing.push(redisProxy.close);
    const postgresProxy = await createFaultProxy(postgres.url);
    closing.push(postgresProxy.close);
    const stage = openStage({
      DATABASE_URL: postgresProxy.through(postgres.url),
      REDIS_URL: redisProxy.through(redis.url),
      HALLUMAZE_CALL_TIMEOUT_SECONDS: `${callTimeoutSeconds}`,
      ...mock.environment(),
    });
    closing.push(stage.clear);
    const ledger = await openLedger(postgres.url);
    closing.push(() => ledger[Symbol.asyncDispose]());
    return {
      stage,
      ledger,
      mock,
      redis,
      redisProxy,
      postgres,
      postgresProxy,
      disk,
      direct: { databaseUrl: postgres.url, redisUrl: redis.url },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const diskMegabytes = 1500;
const run = (program: "mount" | "umount", words: readonly string[]) => spawnSync(program, words);

function mountDisk(closing: (() => unknown)[]): Disk | null {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-disk-"));
  const mounted = run("mount", ["-t", "tmpfs", "-o", `size=${diskMegabytes}m,mode=755`, "none", folder]);
  if (mounted.status !== 0) {
    rmdirSync(folder);
    return null;
  }
  closing.push(() => {
    run("umount", ["-l", folder]);
    rmdirSync(folder);
  });
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill: () => {
      const part = Buffer.alloc(2 ** 20);
      try {
        for (;;) appendFileSync(ballast, part);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    empty: () => rmSync(ballast, { force: true }),
  };
}
