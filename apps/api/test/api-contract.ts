import { autoScoreView, pendingView, problem, resultView } from "@hallumaze/contract";
import { describe, expect, it, vi } from "vitest";
import type { z } from "zod";

import { type ApiStage, keywordList, type OpenStage } from "./api-stage.ts";

/** What the API of judging does over any ledger and queue. */
export function describeBenchmarkApi(open: OpenStage): void {
  describe("auto-score while the gate is closed", () => {
    it("gives the heuristic's verdict in the seed's shape and asks no judge", async () => {
      const stage = await open();
      const id = await addKeywords(stage);
      const scored = await expectBody(await autoScore(stage, id), 200, autoScoreView);
      expect(scored).toMatchObject({
        result_id: id,
        level: "L3",
        scored_by: "HEURISTIC",
        model: null,
        counter_argument: null,
        confidence: null,
        fallback: false,
        provisional: false,
        dry_run: false,
        gate: { open: false, refusals: [expect.stringContaining("not calibrated")], calibrated_at: null },
      });
      expect(scored.reasoning).toContain("terms");
      expect(stage.judgeCalls()).toBe(0);
      await autoScore(stage, id);
      expect((await readResult(stage, id)).judgements).toHaveLength(1);
    });

    it("buys the judge's verdict for a dry run, once, and leaves what stands as it is", async () => {
      const stage = await open();
      const id = await addKeywords(stage);
      await autoScore(stage, id);
      const dry = await expectBody(await autoScore(stage, id, "?dry_run=true"), 200, autoScoreView);
      expect(dry).toMatchObject({
        level: "L1",
        scored_by: "LLM-JUDGE-v1",
        dry_run: true,
        default: { level: "L3", scored_by: "HEURISTIC" },
      });
      expect(dry.counter_argument).not.toBe("");
      await expectBody(await autoScore(stage, id, "?dry_run=true"), 200, autoScoreView);
      expect(stage.judgeCalls()).toBe(1);
      expect((await readResult(stage, id)).default_verdict).toMatchObject({ level: "L3", scored_by: "HEURISTIC" });
    });

    it("has the judge run beside the heuristic where shadow is on", async () => {
      const stage = await open({ shadow: true });
      const id = await addKeywords(stage);
      expect(await expectBody(await autoScore(stage, id), 200, autoScoreView)).toMatchObject({
        scored_by: "HEURISTIC",
      });
      await vi.waitFor(
        async () => {
          const { judgements, open_requests: openRequests } = await readResult(stage, id);
          expect(openRequests).toBe(0);
          expect(judgements.map(({ scored_by: by }) => by)).toContain("LLM-JUDGE-v1");
        },
        { timeout: 15_000 },
      );
      expect((await readResult(stage, id)).default_verdict).toMatchObject({ scored_by: "HEURISTIC" });
    });

    it("scores by the heuristic without a judge, and refuses the dry run", async () => {
      const stage = await open({ judge: null });
      const id = await addKeywords(stage);
      expect(await expectBody(await autoScore(stage, id), 200, autoScoreView)).toMatchObject({ level: "L3" });
      expect(await expectBody(await autoScore(stage, id, "?dry_run=true"), 501, problem)).toMatchObject({
        code: "no-judge",
      });
    });

    it("stays closed for a calibration of another prompt", async () => {
      const stage = await open();
      await stage.addCalibration({ promptHash: "f".repeat(64) });
      const id = await addKeywords(stage);
      expect(await expectBody(await autoScore(stage, id), 200, autoScoreView)).toMatchObject({ gate: { open: false } });
      expect(stage.judgeCalls()).toBe(0);
    });
  });

  describe("auto-score once the gate is open", () => {
    it("gives the judge's verdict, and buys it once", async () => {
      const stage = await openWithGate(open);
      const id = await addKeywords(stage);
      const scored = await expectBody(await autoScore(stage, id), 200, autoScoreView);
      expect(scored).toMatchObject({ level: "L1", scored_by: "LLM-JUDGE-v1", gate: { open: true, refusals: [] } });
      expect(scored.confidence).toBeGreaterThan(0.5);
      expect(scored.model).not.toBeNull();
      await expectBody(await autoScore(stage, id), 200, autoScoreView);
      expect(stage.judgeCalls()).toBe(1);
    });

    it("makes one judgement of 50 calls at once; the others get 409 with the poll address", async () => {
      const stage = await openWithGate(open);
      const id = await addKeywords(stage);
      stage.hold();
      let refused = 0;
      const calls = Array.from({ length: 50 }, async () => {
        const response = await autoScore(stage, id);
        if (response.status === 409) refused += 1;
        return response;
      });
      await vi.waitFor(() => expect(refused).toBe(49), { timeout: 20_000 });
      stage.release();
      const responses = await Promise.all(calls);
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const response of responses.filter(({ status }) => status === 409)) {
        const poll = `/api/benchmark/results/${id}`;
        expect(await expectBody(response, 409, problem)).toMatchObject({ code: "judging-under-way", poll });
        expect(response.headers.get("location")).toBe(poll);
      }
      expect(stage.judgeCalls()).toBe(1);
      expect((await readResult(stage, id)).judgements).toHaveLength(1);
    });

    it("hands out the poll address at the deadline, where the verdict then appears", async () => {
      const stage = await openWithGate(open, { deadlineMs: 100 });
      const id = await addKeywords(stage);
      stage.hold();
      const response = await autoScore(stage, id);
      const { poll } = await expectBody(response, 202, pendingView);
      expect(response.headers.get("location")).toBe(poll);
      stage.release();
      await vi.waitFor(
        async () => {
          const polled = await expectBody(await stage.call("GET", poll), 200, resultView);
          expect(polled).toMatchObject({ open_requests: 0, default_verdict: { level: "L1", provisional: false } });
        },
        { timeout: 15_000 },
      );
    });

    it("bridges an outage by the heuristic, marked so, and is judged later", async () => {
      const stage = await openWithGate(open);
      stage.play("outage");
      const id = await addKeywords(stage);
      const scored = await expectBody(await autoScore(stage, id), 200, autoScoreView);
      expect(scored).toMatchObject({ level: "L3", scored_by: "HEURISTIC", fallback: true, provisional: true });
      expect(scored.reasoning).toContain("outage");
      stage.play("answer");
      await vi.waitFor(
        async () => {
          const { default_verdict: standing } = await readResult(stage, id);
          expect(standing).toMatchObject({ level: "L1", scored_by: "LLM-JUDGE-v1", fallback: false });
        },
        { timeout: 30_000, interval: 100 },
      );
    });

    it("gives no level where the text is too much for the judge", async () => {
      const stage = await openWithGate(open);
      stage.play("refuse");
      const id = await addKeywords(stage);
      for (let time = 0; time < 2; time += 1) {
        expect(await expectBody(await autoScore(stage, id), 200, autoScoreView)).toMatchObject({
          level: null,
          unscored_reason: "judgeGaveUp",
          needs_human: true,
          scored_by: null,
        });
      }
      expect(stage.judgeCalls()).toBe(1);
    });
  });

  describe("refusals", () => {
    it("404 for an unknown result, 422 where there is nothing to judge", async () => {
      const stage = await open();
      for (const id of ["nothing", "00000000-0000-4000-8000-000000000000"]) {
        expect(await expectBody(await autoScore(stage, id), 404, problem)).toMatchObject({ code: "not-found" });
      }
      const bare = await stage.addBareResult();
      expect(await expectBody(await autoScore(stage, bare), 422, problem)).toMatchObject({ code: "nothing-to-judge" });
    });

    it("409 for a fitness while the gate is closed; a corrected mean once it is open", async () => {
      const stage = await open();
      const ids = [await addKeywords(stage), await addKeywords(stage)];
      const path = `/api/benchmark/fitness?result_ids=${ids.join(",")}`;
      expect(await expectBody(await stage.call("GET", path), 409, problem)).toMatchObject({ code: "gate-closed" });
      await stage.addCalibration();
      expect(await expectBody(await stage.call("GET", path), 422, problem)).toMatchObject({ reason: "noLevels" });
      for (const id of ids) await autoScore(stage, id);
      const response = await stage.call("GET", path);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ judge_mean: 1, mean: 1, n: 2, missing: 0, gold_items: 54 });
      const unknown = await stage.call("GET", "/api/benchmark/fitness?result_ids=nothing");
      expect(await expectBody(unknown, 404, problem)).toMatchObject({ code: "not-found" });
    });
  });
}

/** Reads a response of a status by its schema. */
export async function expectBody<Schema extends z.ZodType>(
  response: Response,
  status: number,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return schema.parse(JSON.parse(text));
}

/** Adds a response that is a list of keywords; gives the result's id. */
export async function addKeywords(stage: Pick<ApiStage, "call">): Promise<string> {
  const scenario = await stage.call("POST", "/api/benchmark/scenarios", { body: keywordList.scenario });
  const { scenario_id: scenarioId } = (await scenario.json()) as { scenario_id: string };
  const body = { scenario_id: scenarioId, response: keywordList.response, submitter: "somebody" };
  const result = await stage.call("POST", "/api/benchmark/results", { body });
  return ((await result.json()) as { result_id: string }).result_id;
}

async function openWithGate(open: OpenStage, settings?: Parameters<OpenStage>[0]): Promise<ApiStage> {
  const stage = await open(settings);
  await stage.addCalibration();
  return stage;
}

function autoScore({ call }: ApiStage, id: string, query = ""): Promise<Response> {
  return call("POST", `/api/benchmark/auto-score/${id}${query}`);
}

async function readResult({ call }: ApiStage, id: string): Promise<z.infer<typeof resultView>> {
  return expectBody(await call("GET", `/api/benchmark/results/${id}`), 200, resultView);
}
