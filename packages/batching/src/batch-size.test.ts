import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type BatchSize, emptySize, fits, grown } from "./batch-size.ts";
import { customIdOf, positionOf } from "./custom-ids.ts";
import { openReckoning } from "./reckoning.ts";

const limits = { rows: 50, bytes: 100_000, replyBytes: 500_000 };

describe("the size of a batch", () => {
  it("stays within every limit when requests are put where they fit, and loses none", () => {
    const requests = fc.array(fc.record({ bytes: fc.nat(150_000), maxTokens: fc.integer({ min: 1, max: 100_000 }) }));
    fc.assert(
      fc.property(requests, (given) => {
        const batches: BatchSize[] = [];
        for (const { bytes, maxTokens } of given) {
          const last = batches.at(-1);
          const next = last === undefined ? null : grown(last, bytes, maxTokens);
          if (next !== null && fits(next, limits)) batches[batches.length - 1] = next;
          else batches.push(grown(emptySize, bytes, maxTokens));
        }
        expect(batches.reduce((sum, { rows }) => sum + rows, 0)).toBe(given.length);
        for (const size of batches) {
          const isWithin =
            size.rows <= limits.rows && size.bytes <= limits.bytes && size.replyBytes <= limits.replyBytes;
          expect(isWithin || size.rows === 1).toBe(true);
        }
      }),
    );
  });

  it("is bounded by what the replies may become, not only by what is sent", () => {
    const size = Array.from({ length: 6 }).reduce<BatchSize>((sum) => grown(sum, 10, 20_000), emptySize);
    expect(fits(size, limits)).toBe(false);
    expect(fits({ ...size, replyBytes: 0 }, limits)).toBe(true);
  });

  it("lets one request go alone, however large: the vendor says better what is too large", () => {
    expect(fits(grown(emptySize, 10 ** 9, 10 ** 7), limits)).toBe(true);
  });
});

describe("a custom id", () => {
  const batchId = "0198c1d2-5a3e-4a61-8d5f-0123456789ab";

  it("gives back its row's place, and fits what all vendors take", () => {
    fc.assert(
      fc.property(fc.nat(99_999), (position) => {
        const id = customIdOf(batchId, position);
        expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(positionOf(batchId, id)).toBe(position);
      }),
    );
  });

  it("of another batch, with anything added, or of nobody is no row's", () => {
    const other = "1198c1d2-5a3e-4a61-8d5f-0123456789ab";
    const ids = [null, "", "hm-", customIdOf(other, 1), `${customIdOf(batchId, 1)} `, `${customIdOf(batchId, 1)}e3`];
    expect(ids.map((id) => positionOf(batchId, id))).toEqual([null, null, null, null, null, null]);
    expect(positionOf(batchId, `${customIdOf(batchId, 0)}1`)).toBeNull();
  });
});

describe("the reckoning of a batch", () => {
  it("counts each row once, and apart from them what came twice, unasked or not at all", () => {
    const reckoning = openReckoning();
    expect([1, 2, 1, null, 3].map(reckoning.came)).toEqual([true, true, false, false, true]);
    for (const kind of ["reply", "reply", "overloaded"]) reckoning.ended(kind);
    reckoning.missed(1);
    reckoning.ended("transport");
    expect(reckoning.total()).toEqual({
      rows: { reply: 2, overloaded: 1, transport: 1 },
      missing: 1,
      unknown: 1,
      repeated: 1,
    });
  });

  it("tells a batch of others by its ids: some came, and none was asked for", () => {
    const [none, mixed, others] = [openReckoning(), openReckoning(), openReckoning()];
    mixed.came(null);
    mixed.came(1);
    others.came(null);
    expect([none, mixed, others].map((one) => one.isOthers())).toEqual([false, false, true]);
  });
});
