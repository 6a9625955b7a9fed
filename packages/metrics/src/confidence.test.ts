import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  auroc2,
  expectedCalibrationError,
  flatness,
  type Judgement,
  reliabilityBins,
  summariseConfidence,
} from "./confidence.ts";

const right = (confidence: number): Judgement => ({ confidence, correct: true });
const wrong = (confidence: number): Judgement => ({ confidence, correct: false });
const repeat = (count: number, judgement: Judgement): Judgement[] => Array.from({ length: count }, () => judgement);

const anyJudgements = fc.array(
  fc.record({ confidence: fc.integer({ min: 0, max: 20 }).map((part) => part / 20), correct: fc.boolean() }),
  { minLength: 1, maxLength: 80 },
);

describe("summariseConfidence", () => {
  it("gives the values worked out by hand for five judgements", () => {
    const summary = summariseConfidence([right(0.9), right(0.9), wrong(0.9), right(0.5), wrong(0.5)], 3);
    expect(summary.count).toBe(5);
    expect(summary.missing).toBe(3);
    expect(summary.coverage).toBe(0.625);
    expect(summary.meanConfidence).toBeCloseTo(0.74, 12);
    expect(summary.accuracy).toBeCloseTo(0.6, 12);
    expect(summary.bias).toBeCloseTo(0.14, 12);
    expect(summary.ce).toBeCloseTo(0.42, 12);
    expect(summary.oce).toBeCloseTo(0.28, 12);
    expect(summary.uce).toBeCloseTo(0.14, 12);
    expect(summary.brier).toBeCloseTo(0.266, 12);
    expect(summary.brierParts?.reliability).toBeCloseTo(0.098 / 3, 12);
    expect(summary.brierParts?.resolution).toBeCloseTo(0.02 / 3, 12);
    expect(summary.brierParts?.uncertainty).toBeCloseTo(0.24, 12);
    expect(summary.logScore).toBeCloseTo(0.77992, 5);
    expect(summary.auroc2).toBeCloseTo(3.5 / 6, 12);
    expect(summary.flatness).toBe(0.6);
    expect(summary.ece).toBeNull();
  });

  it("is null, not 0, without data", () => {
    const { count, missing, ...numbers } = summariseConfidence([]);
    expect([count, missing]).toEqual([0, 0]);
    expect(new Set(Object.values(numbers))).toEqual(new Set([null]));
  });

  it("shows a log without any confidence as coverage 0", () => {
    expect(summariseConfidence([], 7).coverage).toBe(0);
  });

  it("keeps a certain error finite in the log score", () => {
    expect(summariseConfidence([wrong(1)]).logScore).toBeCloseTo(-Math.log(0.005), 12);
  });

  it("splits CE into over- and under-confidence and Brier into Murphy's parts, exactly", () => {
    fc.assert(
      fc.property(anyJudgements, (judgements) => {
        const { ce, oce, uce, brier, brierParts: parts } = summariseConfidence(judgements);
        expect((oce ?? 0) + (uce ?? 0)).toBeCloseTo(ce ?? -1, 12);
        const rebuilt = (parts?.reliability ?? 0) - (parts?.resolution ?? 0) + (parts?.uncertainty ?? 0);
        expect(rebuilt).toBeCloseTo(brier ?? -1, 12);
      }),
      { seed: 11, numRuns: 100 },
    );
  });
});

describe("expectedCalibrationError", () => {
  it("weights each bin's gap by its count", () => {
    const pooled = [
      ...repeat(20, right(0.95)),
      ...repeat(5, wrong(0.95)),
      ...repeat(15, right(0.6)),
      ...repeat(10, wrong(0.6)),
    ];
    expect(expectedCalibrationError(pooled)).toBeCloseTo(0.075, 12);
  });

  it("is null under 50 judgements", () => {
    expect(expectedCalibrationError(repeat(49, right(0.9)))).toBeNull();
    expect(expectedCalibrationError(repeat(50, right(0.9)))).toBeCloseTo(0.1, 12);
  });
});

describe("reliabilityBins", () => {
  it("puts every tenth into the bin that it begins, and 1 into the last", () => {
    const tenths = Array.from({ length: 11 }, (_, tenth) => right(tenth / 10));
    expect(reliabilityBins(tenths).map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    expect(reliabilityBins([right(0.1 + 0.2)]).findIndex(({ count }) => count === 1)).toBe(3);
  });
});

describe("auroc2", () => {
  it("is 1 for full separation, 0.5 for one flat value, 0 for full reversal, null with one kind only", () => {
    expect(auroc2([right(0.9), right(0.8), wrong(0.7)])).toBe(1);
    expect(auroc2([right(0.9), wrong(0.9), wrong(0.9)])).toBe(0.5);
    expect(auroc2([right(0.1), wrong(0.9)])).toBe(0);
    expect(auroc2([right(0.1), right(0.9)])).toBeNull();
  });

  it("equals the share of pairs won, ties counting half", () => {
    fc.assert(
      fc.property(anyJudgements, (judgements) => {
        const rights = judgements.filter(({ correct }) => correct);
        const wrongs = judgements.filter(({ correct }) => !correct);
        const won = rights.flatMap((one) =>
          wrongs.map((other) => (Math.sign(one.confidence - other.confidence) + 1) / 2),
        );
        const expected = won.length === 0 ? null : won.reduce((sum, points) => sum + points, 0) / won.length;
        const found = auroc2(judgements);
        expect(found === null).toBe(expected === null);
        expect(found ?? 0).toBeCloseTo(expected ?? 0, 10);
      }),
      { seed: 12, numRuns: 100 },
    );
  });
});

describe("flatness", () => {
  it("is 1 where every confidence is the same", () => {
    expect(flatness(repeat(9, right(0.95)))).toBe(1);
    expect(flatness([right(0.9), right(0.8), wrong(0.9), right(0.7)])).toBe(0.5);
  });
});
