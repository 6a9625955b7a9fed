import { createDatabase, findFreePort, findTool, type Look, openPage, type OpenPage } from "@hallumaze/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { openStage, type Program, type Stage } from "../test/program-stage.ts";

const chromium = findTool("chromium");
const path = chromium.kind === "installed" ? chromium.path : "";
const token = "a-token-of-the-tests";

let stage: Stage;
let drop: () => Promise<void>;
let serving: Program;
let url: string;

async function serve(): Promise<Program> {
  const program = stage.start(["serve", "--port", new URL(url).port]);
  await program.says("serve: judge none");
  // The page is built meanwhile, where it has to be.
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), 60_000);
  return program;
}

beforeAll(async () => {
  if (chromium.kind === "missing") return;
  const database = await createDatabase();
  drop = database.drop;
  stage = openStage({ DATABASE_URL: database.url, HALLUMAZE_API_TOKEN: token });
  url = `http://127.0.0.1:${await findFreePort()}`;
  const models = ["sim/mirage-prone", "sim/dfs-honest"];
  const spec = stage.spec("shown", {
    models,
    seeds: ["1..4"],
    mirage: [true, false],
    judge: { models: ["sim/judge"] },
  });
  const ran = await stage.run(["run", spec]);
  if (ran.code !== 0) throw new Error(ran.err);
  // Nobody works on it: it waits as it was submitted.
  const waiting = stage.spec("waiting", { models: ["sim/oracle"], seeds: ["1..3"] });
  const submitted = await stage.run(["submit", waiting]);
  if (submitted.code !== 0) throw new Error(submitted.err);
  serving = await serve();
}, 240_000);
afterAll(async () => {
  if (chromium.kind === "missing") return;
  await stage.clear();
  await drop();
});

/** Opens an address of the served page, runs, and checks that nothing went wrong in it. */
async function onPage(address: string, run: (opened: OpenPage) => Promise<void>, look: Look = {}): Promise<void> {
  const opened = await openPage(path, `${url}/${address}`, look);
  try {
    await run(opened);
    expect(opened.wrongs).toEqual([]);
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

async function enterToken({ page }: OpenPage): Promise<void> {
  await page.getByRole("button", { name: "Enter token" }).click();
  await page.getByRole("dialog").getByLabel("Token").fill(token);
  await page.getByRole("dialog").getByRole("button", { name: "Use" }).click();
}

describe.skipIf(chromium.kind === "missing")("serve's page in Chromium", () => {
  it("comes compressed, but for the events", async () => {
    const encodingOf = async (address: string) => {
      const response = await fetch(`${url}${address}`);
      await response.body?.cancel();
      return response.headers.get("content-encoding");
    };
    const [script] = /\/assets\/[^"]+\.js/.exec(await (await fetch(url)).text()) ?? [""];
    expect(await Promise.all([script, "/api/sweeps/shown/grid", "/api/events"].map(encodingOf))).toEqual([
      "gzip",
      "gzip",
      null,
    ]);
  });

  it("leads in three clicks from its address to a model that takes a trap", async () => {
    await onPage("", async ({ page }) => {
      await page.getByRole("link", { name: "shown" }).click();
      await page.getByText("sim/mirage-prone").first().waitFor({ state: "attached" });
      // The last row but those of the other model: mirage-prone with the mirage on.
      await page.locator(".heat-map-frame").focus();
      await page.keyboard.press("Control+End");
      await expect
        .poll(() => page.locator(".heat-map-text").textContent())
        .toContain("sim/mirage-prone · 5×5 A mirage on");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Play" }).click();
      const text = page.locator(".step-text");
      await expect.poll(() => text.textContent(), { timeout: 60_000 }).toMatch(/takes the trap/);
    });
  });

  it("ranks, compares, and draws the report's figures", async () => {
    await onPage("#/sweeps/shown/leaderboard", async ({ page }) => {
      await page.getByRole("rowheader", { name: "sim/dfs-honest" }).waitFor({ timeout: 60_000 });
      await page.locator(".differences").waitFor({ timeout: 60_000 });
      await page.getByRole("tab", { name: "Experiments" }).click();
      await page.getByRole("button", { name: "Linguistic Mirage" }).click({ timeout: 60_000 });
      await page.locator(".chart svg").waitFor({ timeout: 60_000 });
      const download = page.waitForEvent("download");
      await page
        .getByRole("button", { name: /^Download shown-.* as PDF$/ })
        .first()
        .click();
      expect((await download).suggestedFilename()).toMatch(/\.pdf$/);
    });
  });

  it("pauses a sweep only with the token, to the same effect as the command", async () => {
    await onPage("#/sweeps/waiting", async (opened) => {
      const { page } = opened;
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
      // Without the token the service refuses, and the page asks for it.
      await page.getByRole("dialog").getByLabel("Token").fill(token);
      await page.getByRole("dialog").getByRole("button", { name: "Use" }).click();
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
      const status = await stage.run(["status", "waiting", "--json"]);
      expect(status).toMatchObject({ code: 0 });
      expect(JSON.parse(status.out)).toMatchObject({ sweep: { paused: { models: [] } } });
      // What the command line does shows by itself.
      expect((await stage.run(["resume", "waiting"])).code).toBe(0);
      await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    });
  });

  it("shows what a worker does while it does it, and finds the service again after a restart", async () => {
    await onPage("#/sweeps/waiting", async ({ page }) => {
      await page.getByText("Live", { exact: true }).waitFor();
      serving.kill("SIGTERM");
      expect((await serving.ended).code).toBe(0);
      await page.getByText("Service away, trying again").waitFor();
      serving = await serve();
      await page.getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
      const worker = stage.start(["worker", "--role", "solve"]);
      await page.getByText("all done").waitFor({ timeout: 60_000 });
      worker.kill("SIGTERM");
      await worker.ended;
    });
  });

  it("keeps a person's walk, and shows it as it shows a model's", async () => {
    await onPage("#/walk", async (opened) => {
      const { page } = opened;
      await enterToken(opened);
      await page.getByLabel("Your name or code").fill("P1");
      await page.getByLabel("Size").fill("5");
      await page.getByRole("button", { name: "Begin" }).click();
      await page.getByRole("heading", { name: "Your moves" }).waitFor();
      for (const key of ["ArrowDown", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
      await page.getByRole("button", { name: "Give up and keep" }).click();
      await page.getByRole("link", { name: "Look at it" }).click();
      await page.locator(".reply-line", { hasText: /STEP 2/ }).waitFor();
      await page.keyboard.press("End");
      expect(await page.locator(".maze .mark-bump").count()).toBe(1);
    });
  });

  it("has two raters label a sweep's answers blind, then shows their agreement and gives the gold set", async () => {
    await onPage("#/label/shown", async (opened) => {
      const { page } = opened;
      await enterToken(opened);
      for (const [rater, levels] of [
        ["ann", "123"],
        ["bob", "122"],
      ] as const) {
        await page.getByLabel("Your name as a rater").fill(rater);
        await page.keyboard.press("Enter");
        if (rater === "ann") {
          await page.getByRole("button", { name: "Draw the set" }).click();
          await page.getByRole("dialog").getByRole("button", { name: "Draw the set" }).click();
        }
        for (let item = 1; item <= 16; item++) {
          await page.getByRole("heading", { name: `Answer ${item} of 16` }).waitFor();
          expect(await page.locator(".label").textContent()).not.toMatch(/sim\/|mirage-prone|dfs-honest/);
          await page.keyboard.press(levels[item % 3] ?? "1");
        }
        await page.getByText("All 16 answers are labelled.").waitFor();
      }
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download as a gold set" }).click();
      expect((await download).suggestedFilename()).toBe("shown-gold.jsonl");
    });
  });
});
