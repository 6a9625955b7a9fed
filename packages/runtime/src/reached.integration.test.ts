// Queue and limiter over every way to a Redis: TLS, users, a cluster, sentinels and their failover.
import type { LimiterPort, QueuePort } from "@hallumaze/engine";
import { openLimiter } from "@hallumaze/limiter";
import { openQueue } from "@hallumaze/queue";
import { createCertificates, createRedis, findFreePort, findRedis, runTool } from "@hallumaze/testkit";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";

const redis = findRedis();
const secret = "p@ss/w:rd%?#";
const login = `sweeps:${encodeURIComponent(secret)}`;
/** A user of the access list that may do all, as `--user` takes it. */
const user = ["--user", "sweeps", "on", `>${secret}`, "~*", "&*", "+@all"];
const errors: string[] = [];

interface Target {
  readonly redisUrl: string;
  readonly redisCaFile?: string;
}

async function openBoth(target: Target): Promise<{ readonly queue: QueuePort; readonly limiter: LimiterPort }> {
  const onError = (error: unknown): void => void errors.push(error instanceof Error ? error.message : String(error));
  const settings = { idlePollMs: 1000, lockMs: 2000, stalledCheckMs: 500 };
  const queue = await openQueue(target, { ledger: "reached", onError, settings });
  onTestFinished(() => queue.close());
  const limiter = await openLimiter(target, { onError });
  onTestFinished(() => limiter.close());
  return { queue, limiter };
}

const trials = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ trialId: `t${from + index}`, generation: 0, delayMs: index % 3 }));

/** Puts work through both on several lanes: delivery, delay, giving back, and each operation of the limiter. */
async function work({ queue, limiter }: { readonly queue: QueuePort; readonly limiter: LimiterPort }): Promise<void> {
  for (const lane of ["sim.a", "sim.b", "anthropic.c"]) {
    await limiter.configure(lane, { rpm: 600_000, concurrency: 50 });
    const seen: string[] = [];
    const consumer = await queue.consume(lane, 5, async ({ trialId }) => {
      const first = !seen.includes(trialId);
      seen.push(trialId);
      if (first && trialId === "t1") return { kind: "again", afterMs: 50 };
      const id = `${lane}/${trialId}`;
      const request = { id, inputTokens: 1, outputTokens: 1, tenant: "t", weight: 1 };
      expect((await limiter.reserve(lane, request)).kind).not.toBe("never");
      await limiter.renew(lane, [id]);
      await limiter.settle(lane, id, { inputTokens: 1, outputTokens: 1 });
      return { kind: "done" };
    });
    await queue.enqueue(lane, trials(20));
    await vi.waitFor(async () => expect(await queue.depth(lane)).toEqual({ waiting: 0, active: 0, delayed: 0 }), {
      timeout: 20_000,
      interval: 50,
    });
    await consumer.close(1000);
    expect(new Set(seen).size).toBe(20);
    await limiter.learn(lane, { requests: { limit: 600_000, remaining: 600_000, resetMs: 10 } });
    await limiter.cool(lane, 0, true);
    expect(await limiter.park(lane, "by hand", null)).toBe(true);
    expect(await limiter.resume(lane)).toBe(true);
  }
  expect(await limiter.use(["sim.a", "sim.b"])).toHaveLength(2);
}

describe.runIf(redis.kind === "installed")("a Redis with TLS and users", () => {
  it("a user with signs in the password works over TLS with the named authority; nothing told holds the password", async () => {
    const certificates = createCertificates();
    onTestFinished(certificates.drop);
    const server = await createRedis({ certificates, words: user });
    onTestFinished(server.drop);
    const redisUrl = `rediss://${login}@127.0.0.1:${server.port}`;
    await work(await openBoth({ redisUrl, redisCaFile: certificates.caFile }));
    const tell = async (target: Target): Promise<string> => {
      const told = await Promise.allSettled([
        openQueue(target, { ledger: "reached", onError: () => undefined, settings: { requestTimeoutMs: 3000 } }),
        openLimiter(target, { settings: { requestTimeoutMs: 3000 } }),
      ]);
      return told
        .map((one) => (one.status === "rejected" ? `${one.reason.code}: ${one.reason.message}` : "opened"))
        .join("\n");
    };
    const unknown = await tell({ redisUrl });
    expect(unknown.match(/REDIS_CA_FILE/g)).toHaveLength(2);
    const wrong = await tell({ redisUrl: redisUrl.replace("sweeps:", "sweeps:not"), redisCaFile: certificates.caFile });
    expect(wrong).toMatch(/queue-refused[\s\S]*limiter-refused/);
    const plain = await tell({ redisUrl: redisUrl.replace("rediss", "redis") });
    expect(plain).toMatch(/queue-[\s\S]*limiter-/);
    const missing = await tell({ redisUrl, redisCaFile: "/nowhere.pem" });
    expect(missing.match(/REDIS_CA_FILE names a file that cannot be read \(ENOENT\)/g)).toHaveLength(2);
    expect(unknown + wrong + plain + missing + errors.join()).not.toMatch(/p@ss|p%40ss/);
  }, 60_000);

  it("a certificate for another host is refused by name", async () => {
    const certificates = createCertificates("queue.example");
    onTestFinished(certificates.drop);
    const server = await createRedis({ certificates });
    onTestFinished(server.drop);
    const target = { redisUrl: server.url, redisCaFile: certificates.caFile };
    await expect(openQueue(target, { ledger: "reached", onError: () => undefined })).rejects.toThrow(
      /another host name/,
    );
  });
});

describe.runIf(redis.kind === "installed")("a Redis cluster", () => {
  it.each([
    ["one address of it", "redis"],
    ["its nodes", "redis+cluster"],
  ])(
    "no script of queue or limiter crosses slots, given %s",
    async (_, scheme) => {
      const node = await createRedis({
        words: ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1", ...user],
      });
      onTestFinished(node.drop);
      const cli = (...words: readonly string[]) => runTool("redis-cli", ["-p", `${node.port}`, ...words]);
      cli("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      await vi.waitFor(() => expect(cli("CLUSTER", "INFO")).toContain("cluster_state:ok"), { timeout: 10_000 });
      await work(await openBoth({ redisUrl: `${scheme}://${login}@127.0.0.1:${node.port}` }));
      const keys = cli("KEYS", "*").trim().split("\n");
      const slots = new Set(keys.map((key) => cli("CLUSTER", "KEYSLOT", key).trim()));
      expect(slots.size).toBeGreaterThan(3);
      expect(errors.filter((message) => /CROSSSLOT|MOVED/.test(message))).toEqual([]);
    },
    60_000,
  );
});

describe.runIf(redis.kind === "installed")("Redis behind sentinels", () => {
  it("work goes on at the new master after a failover, and what waited is still there", async () => {
    const login = ["--requirepass", secret, "--masterauth", secret];
    const master = await createRedis({ words: login });
    onTestFinished(master.drop);
    const replica = await createRedis({ words: [...login, "--replicaof", "127.0.0.1", `${master.port}`] });
    onTestFinished(replica.drop);
    const cli = (port: number, ...words: readonly string[]) =>
      runTool("redis-cli", ["-p", `${port}`, "--no-auth-warning", "-a", secret, ...words]);
    await vi.waitFor(() => expect(cli(replica.port, "INFO", "replication")).toContain("master_link_status:up"), {
      timeout: 20_000,
      interval: 100,
    });
    const sentinel = await startSentinel(master.port);
    await vi.waitFor(() => expect(sentinel.ask("SENTINEL", "REPLICAS", "sweeps")).toContain(`${replica.port}`), {
      timeout: 20_000,
      interval: 100,
    });
    const redisUrl = `redis+sentinel://:${encodeURIComponent(secret)}@127.0.0.1:1,127.0.0.1:${sentinel.port}/sweeps`;
    const both = await openBoth({ redisUrl });
    await work(both);
    await both.queue.enqueue("sim.later", trials(50));
    await vi.waitFor(() => expect(Number(cli(replica.port, "DBSIZE"))).toBeGreaterThan(50));
    await master.kill();
    await vi.waitFor(
      () => expect(sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "sweeps")).toContain(`${replica.port}`),
      { timeout: 30_000, interval: 100 },
    );
    const seen = new Set<string>();
    await vi.waitFor(() => both.queue.ping(2000), { timeout: 20_000, interval: 200 });
    await both.queue.consume("sim.later", 5, async ({ trialId }) => {
      seen.add(trialId);
      return { kind: "done" };
    });
    await vi.waitFor(() => expect(seen.size).toBe(50), { timeout: 20_000, interval: 50 });
    await work(both);
  }, 120_000);
});

/** A sentinel that watches the master at `masterPort` under the name `sweeps` and takes it for dead after half a second. */
async function startSentinel(masterPort: number) {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-sentinel-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const settings = join(folder, "sentinel.conf");
  const port = await findFreePort();
  const lines = [
    `port ${port}`,
    `sentinel monitor sweeps 127.0.0.1 ${masterPort} 1`,
    `sentinel auth-pass sweeps "${secret}"`,
    "sentinel down-after-milliseconds sweeps 500",
    "sentinel failover-timeout sweeps 5000",
  ];
  writeFileSync(settings, `${lines.join("\n")}\n`);
  const { spawn } = await import("node:child_process");
  const server = spawn("redis-server", [settings, "--sentinel"], { stdio: "ignore" });
  onTestFinished(() => void server.kill("SIGKILL"));
  const ask = (...words: readonly string[]) => runTool("redis-cli", ["-p", `${port}`, ...words]);
  await vi.waitFor(() => expect(ask("PING")).toContain("PONG"), { timeout: 10_000, interval: 50 });
  return { port, ask };
}
