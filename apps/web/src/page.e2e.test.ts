import { readFile } from "node:fs/promises";

import { findTool, type Look, openPage } from "@hallumaze/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { judgeReplies, labelling } from "../test/canned-judge.ts";
import { gridOf, steeringReport, sweep, sweepReplies } from "../test/canned-replies.ts";
import { type CannedService, startCannedService } from "../test/canned-service.ts";
import { hostile, otherTrial, trial } from "../test/canned-trials.ts";

const chromium = findTool("chromium");
const path = chromium.kind === "installed" ? chromium.path : "";
const replies = {
  ...sweepReplies,
  ...judgeReplies,
  [`/api/trials/${trial.trialId}`]: trial,
  [`/api/trials/${otherTrial.trialId}`]: otherTrial,
  "POST /api/sweeps/overnight/retry": steeringReport,
  "POST /api/lanes/openai%2Fgpt-5.4-mini/park": {
    lanes: [{ lane: "openai/gpt-5.4-mini", parked: true, wasParked: false, blocked: 4, requeued: 0 }],
  },
};

let service: CannedService;
beforeAll(async () => {
  service = await startCannedService(replies);
});
afterAll(() => service.stop());

/** Opens an address of the page, runs, and checks that nothing went wrong in it: no breach of its policy, no error. */
async function onPage(address: string, run: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
  const opened = await openPage(path, `${service.url}/${address}`, look);
  try {
    await run(opened.page);
    expect(opened.wrongs).toEqual([]);
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

const stepText = (page: Page) => page.locator(".controls .step-text");

describe.skipIf(chromium.kind === "missing")("the page in Chromium", () => {
  it("from the address to a model that takes a trap are three clicks", async () => {
    service.replies.set("/api/sweeps/overnight/grid", {
      ...gridOf(400),
      cells: { ...gridOf(400).cells, trialId: Array.from({ length: 400 }, () => trial.trialId) },
    });
    await onPage("", async (page) => {
      await page.getByRole("link", { name: "overnight" }).click();
      await page.locator(".heat-map-frame").click({ position: { x: 250, y: 70 } });
      await page.getByRole("button", { name: "Play" }).click();
      await expect.poll(() => stepText(page).textContent(), { timeout: 20_000 }).toContain("takes the trap");
    });
  });

  it("a walk is replayed by keys: a step, an event, the ends", async () => {
    await onPage(`#/trials/${trial.trialId}`, async (page) => {
      await stepText(page).waitFor();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      expect(await stepText(page).textContent()).toContain("illegal: into a wall");
      await page.keyboard.press("Shift+ArrowRight");
      expect(await stepText(page).textContent()).toContain("takes the trap");
      expect(await page.locator(".maze .mark-bump").count()).toBe(1);
      await page.keyboard.press("End");
      expect(await stepText(page).textContent()).toContain("escapes");
      await page.keyboard.press("Home");
      expect(await stepText(page).textContent()).toContain("At START");
      expect(await page.locator(".maze .mark-bump").count()).toBe(0);
    });
  });

  it("the maze, the reply and the confidence curve point at the same step", async () => {
    await onPage(`#/trials/${trial.trialId}`, async (page) => {
      await page.locator(".reply-line", { hasText: "STEP 12:" }).hover();
      expect(await page.locator(".hovered-step").count()).toBe(1);
      expect(await page.locator(".curve-hovered").count()).toBe(1);
      await page.locator(".reply-line", { hasText: "STEP 12:" }).click();
      expect(await stepText(page).textContent()).toContain("Step 12 of 17");
      const maze = await page.locator(".replay .maze").boundingBox();
      // The cell (4,1), on which step 12 arrived.
      await page.mouse.move((maze?.x ?? 0) + (maze?.width ?? 0) * 0.3, (maze?.y ?? 0) + (maze?.height ?? 0) * 0.9);
      expect(await page.locator(".reply-hovered").textContent()).toContain("STEP 12:");
    });
  });

  it("markup, scripts, bidi controls and tags in a reply are text that can be read", async () => {
    await onPage(`#/trials/${trial.trialId}`, async (page) => {
      const reply = page.locator(".reply");
      await reply.getByText(hostile[0] ?? "").waitFor();
      await reply.getByText(hostile[1] ?? "").waitFor();
      expect(await reply.locator(".hidden-character").allTextContents()).toEqual([
        "U+202E",
        "U+202C",
        "U+E0041",
        "U+E0042",
        "U+200B",
      ]);
      expect(await page.locator("main img, main script, main b:has(> b)").count()).toBe(0);
      expect(await page.evaluate("window.pwned")).toBeUndefined();
    });
  });

  it("a judgement's quotation is marked in the reply, and leads to it", async () => {
    await onPage(`#/trials/${trial.trialId}`, async (page) => {
      await page.getByRole("tab", { name: /Judgements/ }).click();
      await page.getByText("It names its error <b>itself</b>").waitFor();
      await page.getByRole("button", { name: "Show in the reply" }).click();
      expect(await page.locator("mark.quote").textContent()).toContain("I was misled by the hint");
    });
  });

  it("metrics show their formula with the trial's numbers, and an unknown value as a dash", async () => {
    await onPage(`#/trials/${trial.trialId}`, async (page) => {
      const mei = page.locator(".metrics tr", { hasText: "MEI" });
      expect(await mei.textContent()).toContain("0.4·1 + 0.3·0.92 + 0.2·1 - 0.1·0.1");
      expect(await page.locator(".metrics tr", { hasText: /^CE / }).locator("td b").first().textContent()).toBe("—");
      await page.getByRole("tab", { name: /Exchanges/ }).click();
      expect(await page.getByRole("region", { name: "Exchanges" }).textContent()).toContain("first token 640 ms");
    });
  });

  it("two trials on one maze replay side by side, together", async () => {
    await onPage(`#/trials/${trial.trialId}`, async (page) => {
      await page.getByLabel("Same maze:").selectOption({ index: 1 });
      await page.getByText("Two trials side by side").waitFor();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      expect(await stepText(page).allTextContents()).toEqual([
        expect.stringContaining("Step 2 of 17"),
        expect.stringContaining("Step 2 of 12"),
      ]);
    });
  });

  it("failures are grouped with their first message, and a retry asks first", async () => {
    await onPage("#/sweeps/overnight/failures", async (page) => {
      const failure = page.locator(".failure", { hasText: "timeout" });
      await failure.getByText("idle for 120 s <img src=x onerror=alert(1)>").waitFor();
      const before = service.posted.length;
      await failure.getByRole("button", { name: "Retry these" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      expect(service.posted.length).toBe(before);
      await failure.getByRole("button", { name: "Retry these" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Retry these" }).click();
      await page.getByText("11 trials put back.").waitFor();
      expect(service.posted.at(-1)).toMatchObject({
        path: "/api/sweeps/overnight/retry",
        body: { outcomes: ["timeout"], models: ["openai/gpt-5.4-mini"] },
      });
    });
  });

  it("a lane is parked with a reason, and one that is parked says why", async () => {
    await onPage("#/sweeps/overnight/lanes", async (page) => {
      await page.getByText("401: the key was refused by the vendor").waitFor();
      await page.getByRole("button", { name: "Park lane" }).first().click();
      await page.getByLabel("Reason (optional)").fill("key is changed");
      await page.getByRole("dialog").getByRole("button", { name: "Park lane" }).click();
      await page.getByText("openai/gpt-5.4-mini is parked; 4 trials wait.").waitFor();
      expect(service.posted.at(-1)?.body).toEqual({ reason: "key is changed" });
    });
  });

  it("the leaderboard has intervals, filters ask the service, and two models are compared", async () => {
    await onPage("#/sweeps/overnight/leaderboard", async (page) => {
      await page.getByText("[0.650, 0.770]").waitFor();
      const asked = page.waitForRequest((request) => request.url().includes("profile=seed&size=7"));
      await page.getByLabel("Size").selectOption("7");
      await page.getByRole("button", { name: "seed", exact: true }).click();
      await asked;
      await page.getByText("has 0.13 more MEI than gpt-5.4-mini on the same mazes.").waitFor();
      expect(await page.locator(".board tbody tr").count()).toBe(2);
    });
  });

  it("an experiment's figure is drawn without eval, and its files can be taken", async () => {
    await onPage("#/sweeps/overnight/experiments", async (page) => {
      await page.locator(".chart svg").waitFor();
      expect(await page.locator(".chart svg .mark-symbol path").count()).toBe(2);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download overnight-means as CSV" }).click();
      const file = await download;
      expect(file.suggestedFilename()).toBe("overnight-means.csv");
      expect(await readFile((await file.path()) ?? "", "utf8")).toBe("model,mei\n");
    });
  });

  it("a rater labels by keys alone, and sees no model", async () => {
    service.replies.set("POST /api/labelling/overnight/labels", { done: 1, total: 2 });
    await onPage("#/label/overnight", async (page) => {
      await page.getByLabel("Your name as a rater").fill("ann");
      await page.keyboard.press("Enter");
      await page.getByText("Answer 1 of 2").waitFor();
      expect(await page.locator(".label").textContent()).not.toContain("gpt-5.4-mini");
      service.replies.set("/api/labelling/overnight", { ...labelling, done: 2, item: null });
      await page.keyboard.press("2");
      await page.getByText("All 2 answers are labelled.").waitFor();
      expect(service.posted.at(-1)?.body).toEqual({ rater: "ann", itemId: "item-1", level: 2 });
      await page.getByRole("button", { name: "Download as a gold set" }).waitFor();
    });
    service.replies.set("/api/labelling/overnight", labelling);
  });

  it("a person walks the maze by arrow keys, walls count as tried, and the walk is kept", async () => {
    service.replies.set("POST /api/people/trials", { trialId: "human-1", outcome: "ok", sr: 0, mei: 0.1 });
    await onPage("#/walk", async (page) => {
      await page.getByLabel("Your name or code").fill("P 1");
      await page.getByRole("button", { name: "Begin" }).click();
      await page.getByRole("heading", { name: "Your moves" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowRight");
      await page.getByText("East: a wall.").waitFor();
      await page.getByRole("button", { name: "Give up and keep" }).click();
      await page.getByText("Kept. Success 0").waitFor();
      expect(service.posted.at(-1)?.body).toMatchObject({
        participant: "P 1",
        steps: [
          { from: [0, 0], dir: "S", confidence: 0.8 },
          { from: [1, 0], dir: "E", confidence: 0.8 },
        ],
        finalPath: null,
      });
    });
  });

  it("what changes is shown by itself, also after the service was away", async () => {
    await onPage("#/sweeps/overnight", async (page) => {
      await page.getByText("Live", { exact: true }).waitFor();
      service.replies.set("/api/sweeps/overnight", { ...sweep, states: { ...sweep.states, done: 500 } });
      service.tell("sweep", { name: "overnight", version: "2", gone: false });
      await page.locator(".overview").getByText("500").waitFor();
      await service.stop();
      await page.getByText("Service away, trying again").waitFor();
      service.replies.set("/api/sweeps/overnight", { ...sweep, states: { ...sweep.states, done: 501 } });
      await service.start();
      await page.locator(".overview").getByText("501").waitFor({ timeout: 30_000 });
      expect(service.listeners()).toBe(1);
      await page.getByText("Live", { exact: true }).waitFor();
    });
    service.replies.set("/api/sweeps/overnight", sweep);
  });

  it("a service that asks for its token gets it from the reader, in a header, kept in the tab alone", async () => {
    const guarded = await startCannedService(replies, { token: "s3cret" });
    const opened = await openPage(path, `${guarded.url}/#/sweeps/overnight/failures`);
    try {
      const { page } = opened;
      await page.getByText("The service asks for its token.").waitFor();
      await page.getByRole("button", { name: "Enter token" }).last().click();
      await page.getByRole("dialog").getByLabel("Token").fill("s3cret");
      await page.getByRole("dialog").getByRole("button", { name: "Use" }).click();
      await page.getByText("401: invalid x-api-key").waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.locator(".failure").first().getByRole("button", { name: "Retry these" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Retry these" }).click();
      await page.getByText("11 trials put back.").waitFor();
      expect(guarded.posted.at(-1)?.authorization).toBe("Bearer s3cret");
      expect(await page.context().cookies()).toEqual([]);
      expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("s3cret");
      expect(opened.wrongs).toEqual([]);
    } finally {
      await opened[Symbol.asyncDispose]();
      await guarded.stop();
    }
  });

  it("the grid is walked by keys and read out, and Enter opens the trial", async () => {
    await onPage("#/sweeps/overnight", async (page) => {
      await page.locator(".heat-map-frame").focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowDown");
      expect(await page.locator(".heat-map-text").textContent()).toMatch(
        /gpt-5\.4-mini · 5×5 A mirage off Korean · seed 1002 · /,
      );
      await page.keyboard.press("Enter");
      await expect.poll(() => page.url()).toContain("#/trials/");
    });
  });
});
