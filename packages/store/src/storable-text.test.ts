import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeNullable, decodeText, encodeNullable, encodeText } from "./storable-text.ts";

describe("encodeText", () => {
  it("leaves ordinary text as it is, backslashes and letters of every script included", () => {
    const text = "벽\\n입니다 🙂 \t C:\\path";
    expect(encodeText(text)).toBe(text);
  });

  it("writes U+0000 as an escape", () => {
    expect(encodeText("a\u0000b")).toBe("\\a\\u0000b");
  });

  it("keeps the six characters \\u0000 apart from the code unit", () => {
    expect(decodeText(encodeText("\\u0000"))).toBe("\\u0000");
    expect(decodeText(encodeText("\u0000 and \\u0000"))).toBe("\u0000 and \\u0000");
  });

  it("writes a lone surrogate as an escape and leaves a pair alone", () => {
    expect(encodeText("\ud83d🙂")).toBe("\\\\ud83d🙂");
  });

  it("keeps null", () => {
    expect(encodeNullable(null)).toBeNull();
    expect(decodeNullable(null)).toBeNull();
    expect(decodeNullable(encodeNullable("\u0000"))).toBe("\u0000");
  });

  it("is restored exactly and never holds what Postgres refuses, whatever the code units", () => {
    const units = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0, 0x5c, 0x75, 0xd800, 0xdc00, 0xd83d, 0xde42),
    );
    const text = fc.array(units, { maxLength: 40 }).map((all) => String.fromCharCode(...all));
    fc.assert(
      fc.property(text, (original) => {
        const stored = encodeText(original);
        expect(stored).not.toMatch(/[\0\p{Surrogate}]/u);
        expect(decodeText(stored)).toBe(original);
      }),
      { seed: 20, numRuns: 500 },
    );
  });
});
