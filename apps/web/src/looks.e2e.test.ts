import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findTool, openPage, traceTasks } from "@hallumaze/testkit";
import { exportPage } from "@hallumaze/web";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { judgeReplies } from "../test/canned-judge.ts";
import {
  experiment,
  experimentList,
  figureSpec,
  gridOf,
  leaderboard,
  sweep,
  sweepReplies,
} from "../test/canned-replies.ts";
import { type CannedService, startCannedService } from "../test/canned-service.ts";
import { longTrial, otherTrial, trial } from "../test/canned-trials.ts";

const chromium = findTool("chromium");
const path = chromium.kind === "installed" ? chromium.path : "";
const long = longTrial(20_000);
const views = [
  "#/",
  "#/sweeps/overnight",
  "#/sweeps/overnight/leaderboard",
  "#/sweeps/overnight/failures",
  "#/sweeps/overnight/lanes",
  "#/sweeps/overnight/experiments",
  `#/trials/${trial.trialId}`,
  `#/trials/${trial.trialId}/beside/${otherTrial.trialId}`,
  "#/judge",
  "#/label/overnight",
  "#/walk",
];

let service: CannedService;
beforeAll(async () => {
  service = await startCannedService({
    ...sweepReplies,
    ...judgeReplies,
    "/api/sweeps/overnight/grid": gridOf(10_000),
    [`/api/trials/${trial.trialId}`]: trial,
    [`/api/trials/${otherTrial.trialId}`]: otherTrial,
    [`/api/trials/${long.trialId}`]: long,
  });
});
afterAll(() => service.stop());

const twoFrames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Waits until the view is there and nothing in it is awaited. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(twoFrames);
  await page.locator("main h1").first().waitFor();
  await expect.poll(() => page.locator(".loading").count()).toBe(0);
}

describe.skipIf(chromium.kind === "missing")("the page's looks in Chromium", () => {
  it.each([
    { theme: "light", language: "en", width: 1280 },
    { theme: "dark", language: "ko", width: 390 },
  ] as const)("axe finds nothing serious in any view, $theme, $language, $width wide", async (look) => {
    const opened = await openPage(path, `${service.url}/`, look);
    const found: unknown[] = [];
    try {
      for (const view of views) {
        await opened.page.goto(`${service.url}/${view}`);
        await settled(opened.page);
        // Not by a script element, which the page's policy would refuse.
        await opened.page.evaluate(axe.source);
        const serious = await opened.page.evaluate(
          `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
            .filter(({ impact }) => impact === "serious" || impact === "critical")
            .map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")))`,
        );
        found.push(...(serious as string[]).map((each) => `${view} ${each}`));
      }
      expect(found).toEqual([]);
      expect(opened.wrongs).toEqual([]);
    } finally {
      await opened[Symbol.asyncDispose]();
    }
  });

  it("no view is wider than a narrow screen", async () => {
    const opened = await openPage(path, `${service.url}/`, { width: 360, height: 740 });
    const wide: string[] = [];
    try {
      for (const view of views) {
        await opened.page.goto(`${service.url}/${view}`);
        await settled(opened.page);
        const width = Number(await opened.page.evaluate("document.documentElement.scrollWidth"));
        if (width > 360) wide.push(`${view} ${width}`);
      }
      expect(wide).toEqual([]);
    } finally {
      await opened[Symbol.asyncDispose]();
    }
  });

  it("a grid of 10,000 cells scrolls without a task of 100 ms", async () => {
    const opened = await openPage(path, `${service.url}/#/sweeps/overnight`);
    try {
      const { page } = opened;
      await page.locator(".heat-map-frame").waitFor();
      await settled(page);
      const tasks = await traceTasks(opened, async () => {
        await page.locator(".heat-map-frame").hover();
        for (let turn = 0; turn < 30; turn++) await page.mouse.wheel(turn < 15 ? 200 : -120, turn % 2 === 0 ? 60 : -40);
        await page.evaluate(twoFrames);
      });
      expect(Number(await page.evaluate("document.querySelector('.heat-map-frame').scrollLeft"))).toBeGreaterThan(100);
      expect(tasks.length).toBeGreaterThan(30);
      expect(tasks[0]).toBeGreaterThan(1);
      expect(tasks[0]).toBeLessThan(100);
    } finally {
      await opened[Symbol.asyncDispose]();
    }
  });

  it("a walk of 20,000 steps replays without a task of 100 ms, in a page of few elements", async () => {
    const opened = await openPage(path, `${service.url}/#/trials/${long.trialId}`);
    try {
      const { page } = opened;
      await page.locator(".step-text").waitFor();
      await settled(page);
      await page.getByLabel("Speed").selectOption("500");
      const tasks = await traceTasks(opened, async () => {
        await page.getByRole("button", { name: "Play" }).click();
        const position = async () => Number(await page.locator(".scrub").inputValue());
        await expect.poll(position, { timeout: 60_000 }).toBeGreaterThan(2000);
        await page.locator(".scrub").fill("19000");
        await page.locator(".reply-here", { hasText: "STEP 19000:" }).waitFor();
      });
      expect(tasks.length).toBeGreaterThan(30);
      expect(tasks[0]).toBeGreaterThan(1);
      expect(tasks[0]).toBeLessThan(100);
      expect(Number(await page.evaluate("document.querySelectorAll('*').length"))).toBeLessThan(1500);
    } finally {
      await opened[Symbol.asyncDispose]();
    }
  });

  it("language and light are the reader's, and stay when the page is opened again", async () => {
    const opened = await openPage(path, `${service.url}/`);
    try {
      const { page } = opened;
      await page.getByLabel("Language").selectOption("ko");
      await page.getByRole("heading", { name: "스윕" }).waitFor();
      await page.getByLabel("밝기").selectOption("dark");
      await page.reload();
      await page.getByRole("heading", { name: "스윕" }).waitFor();
      expect(await page.evaluate("document.documentElement.lang + document.documentElement.dataset.theme")).toBe(
        "kodark",
      );
    } finally {
      await opened[Symbol.asyncDispose]();
    }
  });

  it("an exported sweep is a page without a service: looked at, downloaded, not changed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hallumaze-site-"));
    const base = "/api/sweeps/overnight";
    await exportPage(
      {
        sweep: "overnight",
        madeAt: "2026-10-05T22:04:09.000Z",
        replies: {
          "/api/sweeps": { sweeps: [] },
          [base]: sweep,
          [`${base}/grid?metric=state`]: gridOf(400),
          [`${base}/leaderboard?profile=robust`]: leaderboard,
          [`${base}/experiments`]: experimentList,
          [`${base}/experiments/models`]: experiment,
          [`${base}/experiments/models/figures/means.json`]: figureSpec,
        },
        files: { [`${base}/experiments/models/figures/means.svg`]: "<svg/>" },
      },
      folder,
    );
    const site = await startCannedService({}, { folder });
    const opened = await openPage(path, `${site.url}/`);
    try {
      const { page } = opened;
      await page.getByText("A snapshot of").waitFor();
      await page.getByRole("tab", { name: "Experiments" }).click();
      await page.locator(".chart svg").waitFor();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download overnight-means as SVG" }).click();
      expect((await download).suggestedFilename()).toBe("overnight-means.svg");
      await page.getByRole("tab", { name: /Failures/ }).click();
      expect(await page.getByRole("button", { name: /Retry|Park|Pause|Cancel/ }).count()).toBe(0);
      expect(site.posted).toEqual([]);
      expect(opened.wrongs).toEqual([]);
    } finally {
      await opened[Symbol.asyncDispose]();
      await site.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
