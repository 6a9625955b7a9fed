import { describe, expect, it } from "vitest";

import { locateQuote } from "./locate-quotes.ts";

describe("where a quotation stands", () => {
  const replies = ["STEP 1: (0,0) → S\nDead  End here", "İstanbul 😀 I turn back  at (1,1)"] as const;
  const shown = (quote: string): string | null => {
    const span = locateQuote(quote, replies);
    return span === null ? null : (replies[span.reply] ?? "").slice(span.start, span.end);
  };

  it("is found word for word, in the reply that has it", () => {
    expect(locateQuote("(0,0) → S", replies)).toEqual({ reply: 0, start: 8, end: 17 });
    expect(locateQuote("I turn back", replies)?.reply).toBe(1);
  });

  it("is found where white space or letter case differ, and the whole of the original is meant", () => {
    expect(shown("dead end HERE")).toBe("Dead  End here");
    expect(shown("i turn\nback at (1,1)")).toBe("I turn back  at (1,1)");
  });

  it("is null where it stands nowhere, or is empty", () => {
    expect(locateQuote("I never said this", replies)).toBeNull();
    expect(locateQuote("  ", replies)).toBeNull();
  });
});
