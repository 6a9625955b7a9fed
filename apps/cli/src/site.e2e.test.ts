import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { experimentView, sweepView, trialView } from "@hallumaze/contract";
import { createDatabase, findFreePort } from "@hallumaze/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { openStage, type Stage } from "../test/program-stage.ts";

let stage: Stage;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  drop = database.drop;
  stage = openStage({ DATABASE_URL: database.url, HALLUMAZE_API_TOKEN: "a-token-of-the-tests" });
  const models = ["sim/dfs-honest", "sim/mirage-prone"];
  const spec = stage.spec("shown", { models, seeds: ["1..3"], mirage: [true, false] });
  const ran = await stage.run(["run", spec]);
  if (ran.code !== 0) throw new Error(ran.err);
}, 180_000);
afterAll(async () => {
  await stage.clear();
  await drop();
});

interface Snapshot {
  readonly sweep: string;
  readonly replies: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
}

describe("site", () => {
  it("writes the page with all that it shows, as one folder that needs no service", async () => {
    const made = await stage.run(["site", "shown", "--output", "site", "--trials", "4", "--json"]);
    expect(made).toMatchObject({ code: 0 });
    const folder = join(stage.folder, "site");
    expect(readFileSync(join(folder, "index.html"), "utf8")).toContain("content-security-policy");
    const snapshot = JSON.parse(readFileSync(join(folder, "snapshot.json"), "utf8")) as Snapshot;
    const trials = Object.entries(snapshot.replies).filter(([path]) => path.startsWith("/api/trials/"));
    expect(snapshot.sweep).toBe("shown");
    expect(trials).toHaveLength(4);
    for (const [, reply] of trials) expect(trialView.safeParse(reply).success).toBe(true);
    expect(Object.keys(snapshot.replies)).toEqual(
      expect.arrayContaining(["/api/sweeps/shown", "/api/sweeps/shown/experiments/mirage"]),
    );
    expect(Object.keys(snapshot.files).some((path) => path.endsWith(".pdf"))).toBe(true);
    for (const place of Object.values(snapshot.files)) expect(existsSync(join(folder, place))).toBe(true);
    expect(readFileSync(join(folder, "snapshot.json"), "utf8")).not.toContain("postgres");
  });

  it("writes over nothing, and leaves nothing of what it could not finish", async () => {
    expect(await stage.run(["site", "shown", "--output", "site"])).toMatchObject({ code: 2 });
    expect(await stage.run(["site", "nobody", "--output", "other"])).toMatchObject({ code: 2 });
    expect(readdirSync(stage.folder).filter((name) => name.startsWith("other") || name.includes("partial"))).toEqual(
      [],
    );
  });
});

describe("serve", () => {
  it("shows the page at its address under a strict policy, and answers what the page asks", async () => {
    const port = String(await findFreePort());
    const program = stage.start(["serve", "--port", port]);
    const url = `http://127.0.0.1:${port}`;
    await program.says(`serve: the page at ${url}/`);
    // Built at its first start.
    const page = await vi.waitFor(
      async () => {
        const response = await fetch(`${url}/`);
        if (!response.ok) throw new Error(`answered with ${response.status}`);
        return response;
      },
      { timeout: 90_000, interval: 200 },
    );
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
    const script = /src="\.?(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? "/none";
    expect((await fetch(`${url}${script}`)).headers.get("cache-control")).toContain("immutable");
    const sweep = sweepView.parse(await (await fetch(`${url}/api/sweeps/shown`)).json());
    expect(sweep).toMatchObject({ name: "shown", states: { done: 12 } });
    const models = await (await fetch(`${url}/api/sweeps/shown/experiments/models`)).json();
    const analysed = await stage.run(["analyze", "shown", "--experiment", "models", "--json"]);
    const { reading, tables } = JSON.parse(analysed.out) as Readonly<Record<string, unknown>>;
    expect(experimentView.parse(models)).toMatchObject({ reading, tables });
    const post = (headers: Readonly<Record<string, string>>) =>
      fetch(`${url}/api/sweeps/shown/pause`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: "{}",
      });
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: "Bearer a-token-of-the-tests" })).status).toBe(200);
    const status = await stage.run(["status", "shown", "--json"]);
    expect(JSON.parse(status.out)).toMatchObject({ sweep: { paused: { models: [] } } });
    program.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0 });
  });
});
