import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { renderFigure } from "./render-figure.ts";
import type { ChartSpec } from "./second-channel.ts";

const models = ["oracle", "dfs-honest", "dfs-forgetful", "학생 (n = 30)"];
const lines: ChartSpec = {
  data: {
    values: models.flatMap((model, at) =>
      [5, 7, 9, 11].map((size) => ({
        model,
        size,
        mei: 0.9 - at * 0.15 - size * 0.02,
        lo: 0.8 - at * 0.15 - size * 0.02,
      })),
    ),
  },
  height: 120,
  mark: { type: "line", point: false },
  encoding: {
    x: { field: "size", type: "ordinal", title: "size" },
    y: { field: "mei", type: "quantitative", title: "MEI ≥ 0, Δ → mean" },
    color: { field: "model", type: "nominal", title: null },
  },
};

describe("a figure", { timeout: 30_000 }, () => {
  it.each([
    [1, 85],
    [2, 174],
  ] as const)("over %d column(s) is %d mm wide, as SVG and as a page", async (columns, mm) => {
    const { svg, pdf, widthMm, heightMm } = await renderFigure(lines, { columns, title: "Difficulty" });
    expect(widthMm).toBe(mm);
    expect(svg).toMatch(new RegExp(`^<svg [^>]*width="${mm}mm" height="${heightMm.toFixed(0).slice(0, 1)}`));
    const [, width = "0", height = "0"] = /MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(latin(pdf)) ?? [];
    expect((Number(width) * 25.4) / 72).toBeCloseTo(mm, 2);
    expect((Number(height) * 25.4) / 72).toBeCloseTo(heightMm, 2);
  });

  it("is the same bytes each time, also with others drawn between and at once", async () => {
    const options = { columns: 1, title: "t" } as const;
    const first = await renderFigure(lines, options);
    const [second, , third] = await Promise.all([
      renderFigure(lines, options),
      renderFigure({ ...lines, height: 90, config: { view: { clip: true } } }, options),
      renderFigure(lines, options),
    ]);
    for (const again of [second, third]) {
      expect(again.svg).toBe(first.svg);
      expect(digest(again.pdf)).toBe(digest(first.pdf));
    }
    expect(latin(first.pdf)).not.toMatch(/CreationDate \(D:(?!1970)/);
  });

  it("keeps its text as text, with the letters' font inside and nothing from outside", async () => {
    const { svg, pdf } = await renderFigure(lines, { columns: 1, title: "A <title> & more" });
    expect(svg).toContain("dfs-forgetful</text>");
    expect(svg).toContain("학생 (n = 30)</text>");
    expect(svg).toContain("<title>A &lt;title&gt; &amp; more</title>");
    expect(svg.match(/@font-face/g)?.length).toBeGreaterThan(2);
    expect(svg.replaceAll(/xmlns(?::xlink)?="[^"]*"/g, "")).not.toMatch(/https?:/);
    const fonts = [...latin(pdf).matchAll(/\/BaseFont \/([A-Z]{6}\+[\w-]+)/g)].map(([, font]) => font);
    expect(fonts.join(" ")).toMatch(/\+Roboto/);
    expect(fonts.join(" ")).toMatch(/\+GowunDodum/);
    expect(latin(pdf)).toContain("/FontFile2");
    expect(latin(pdf)).not.toContain("/Helvetica");
    expect(latin(pdf)).not.toContain("/Subtype /Image");
  });

  it("holds drawing operators of a PDF, not a picture: lines are stroked and text is shown", async () => {
    const { pdf } = await renderFigure(lines, { columns: 1, title: "t" });
    const page = streamsOf(pdf).find((stream) => stream.includes(" re\n") || stream.includes(" l\n")) ?? "";
    expect(page).toMatch(/\d+ l\n/);
    expect(page).toMatch(/ T[jJ]\n/);
  });

  it("tells series by dash or shape as well as by colour", async () => {
    const drawn = (await renderFigure(lines, { columns: 1, title: "t" })).svg;
    expect(new Set(drawn.match(/stroke-dasharray="[^"]+"/g)).size).toBe(3);
    const points = { ...lines, mark: "point" };
    const shapes = (await renderFigure(points, { columns: 1, title: "t" })).svg;
    const marks = shapes.slice(shapes.indexOf("mark-symbol"));
    expect(new Set(marks.match(/ d="[^"]+"/g)?.map((path) => path.replaceAll(/[-\d.]+/g, "n"))).size).toBeGreaterThan(
      2,
    );
  });

  it("keeps the scales and signs that a specification gives itself", async () => {
    const own = { field: "model", type: "nominal", scale: { range: [[9, 9]] } };
    const encoding = { ...(lines["encoding"] as ChartSpec), strokeDash: own };
    const { svg } = await renderFigure({ ...lines, encoding }, { columns: 1, title: "t" });
    expect(new Set(svg.match(/stroke-dasharray="[^"]+"/g))).toEqual(new Set(['stroke-dasharray="9,9"']));
  });

  it.each([
    ["facets", { ...lines, encoding: { ...(lines["encoding"] as ChartSpec), column: { field: "model" } } }],
    ["views side by side", { hconcat: [lines, { ...lines, mark: "point" }] }],
    ["layers", { ...lines, mark: undefined, layer: [{ mark: "line" }, { mark: "point" }] }],
    [
      "a repeat",
      {
        repeat: ["mei", "lo"],
        spec: {
          ...lines,
          encoding: { x: { field: "size" }, y: { field: { repeat: "repeat" }, type: "quantitative" } },
        },
      },
    ],
  ] as const)("%s are drawn to the width of the column too", async (_, spec) => {
    const { svg, widthMm } = await renderFigure(JSON.parse(JSON.stringify(spec)) as ChartSpec, {
      columns: 2,
      title: "t",
    });
    const [, units = "0"] = /viewBox="0 0 ([\d.]+)/.exec(svg) ?? [];
    // One unit is one point but for a hair: letters keep their size.
    expect((Number(units) * 25.4) / 72).toBeGreaterThan(widthMm * 0.98);
    expect((Number(units) * 25.4) / 72).toBeLessThan(widthMm * 1.02);
  });
});

describe("what is refused", { timeout: 30_000 }, () => {
  it.each([
    ["data from an address", { ...lines, data: { url: "https://example.org/data.csv" } }, "figure-external"],
    ["data from a file", { ...lines, data: { url: "/etc/passwd" } }, "figure-external"],
    [
      "a picture from an address",
      { data: { values: [{}] }, mark: { type: "image", url: "https://example.org/a.png" } },
      "figure-external",
    ],
    [
      "a link",
      { ...lines, encoding: { ...(lines["encoding"] as ChartSpec), href: { field: "model" } } },
      "figure-external",
    ],
    ["something else than a chart", { mark: "nonsense", encoding: {} }, "figure-invalid"],
  ] as const)("%s", async (_, spec, code) => {
    await expect(renderFigure(spec as ChartSpec, { columns: 1, title: "t" })).rejects.toMatchObject({ code });
  });

  it("a figure that its column cannot hold, with what to do", async () => {
    const values = Array.from({ length: 30 }, (_, facet) => ({ facet, x: 1, y: 1 }));
    const spec = {
      data: { values },
      mark: "point",
      encoding: { column: { field: "facet" }, x: { field: "x" }, y: { field: "y" } },
    };
    await expect(renderFigure(spec, { columns: 1, title: "t" })).rejects.toThrow(
      /two columns, shorter labels or fewer facets/,
    );
  });

  it("hostile text of a model stays text", async () => {
    const hostile = '<script>alert(1)</script><image href="http://example.org/x"/>\u202e';
    const spec = { ...lines, data: { values: [{ model: hostile, size: 5, mei: 0.5 }] } };
    const { svg } = await renderFigure(spec, { columns: 1, title: hostile });
    expect(svg).not.toMatch(/<script|<image/);
    expect(svg).toContain("&lt;script&gt;");
  });
});

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function streamsOf(pdf: Uint8Array): readonly string[] {
  return [...latin(pdf).matchAll(/FlateDecode\s*>>\s*stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, data = ""]) => {
    try {
      return inflateSync(Buffer.from(data, "latin1")).toString("latin1");
    } catch {
      return "";
    }
  });
}
