import fc from "fast-check";
import { expect, it } from "vitest";

import { visiblePieces, visibleText } from "./visible-text.ts";

it.each([
  ["an override of direction", "a\u202Eb", "a⟨U+202E⟩b"],
  ["an isolate", "\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"],
  ["tag letters", "\u{e0041}", "⟨U+E0041⟩"],
  ["a zero-width space and joiner", "a\u200Bb\u200D", "a⟨U+200B⟩b⟨U+200D⟩"],
  ["NUL and escape", "\0\u001B[31m", "⟨U+0000⟩⟨U+001B⟩[31m"],
  ["a lone surrogate", "\uD800x", "⟨U+D800⟩x"],
  ["a filler that looks like a space", "\u3164", "⟨U+3164⟩"],
])("%s is shown by its code point", (_title, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it("markup, Korean, emoji, tabs and line ends stay as they are", () => {
  const text = "<b>막다른 길</b>\t🙂\n→ (0,0)";
  expect(visibleText(text)).toBe(text);
});

it("no piece of any text is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(
        visiblePieces(text)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
    }),
  );
});
