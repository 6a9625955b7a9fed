import { printTable, singleLine } from "@hallumaze/reports";
import he from "he";

import { warningLines, type WrittenExperiment } from "./write-results.ts";

/** What stands at a report's head. */
export interface ReportFacts {
  readonly sweep: string;
  /** In plain words, each a line: trials, program, draws. */
  readonly facts: readonly string[];
  /** Experiments that the sweep does not hold, with the reason. */
  readonly leftOut: readonly { readonly title: string; readonly reason: string }[];
  readonly warnings: readonly string[];
}

/** A report as one HTML file that loads nothing: figures stand in it as data, and all text is text. */
export function reportPage(
  { sweep, facts, leftOut, warnings }: ReportFacts,
  written: readonly WrittenExperiment[],
): string {
  const lines = (kind: string, texts: readonly string[]): string =>
    texts.length === 0 ? "" : `<ul class="${kind}">${texts.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>`;
  const sections = written.map(({ result, figures }) => {
    const pictures = figures.map(
      ({ title, svg }) =>
        `<figure><img alt="${escaped(title)}" src="data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}">` +
        `<figcaption>${escaped(title)}</figcaption></figure>`,
    );
    const reading = result.reading.map((sentence) => `<p>${escaped(sentence)}</p>`);
    const tables = result.tables.map(htmlTable);
    return [
      `<section id="${result.experiment}"><h2>${escaped(result.title)}</h2>`,
      ...reading,
      lines("warnings", warningLines(result.warnings)),
      ...pictures,
      ...tables,
      "</section>",
    ].join("\n");
  });
  const missing = leftOut.map(({ title, reason }) => `${title}: ${reason}`);
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">`,
    `<title>${escaped(sweep)}</title><style>${style}</style></head><body>`,
    `<h1>${escaped(sweep)}</h1>`,
    lines("facts", facts),
    lines("warnings", warnings),
    `<nav>${written.map(({ result }) => `<a href="#${result.experiment}">${escaped(result.title)}</a>`).join(" ")}</nav>`,
    ...sections,
    missing.length === 0 ? "" : `<section><h2>Left out</h2>${lines("facts", missing)}</section>`,
    "</body></html>",
    "",
  ].join("\n");
}

function htmlTable(table: Parameters<typeof printTable>[0]): string {
  const { heads, numeric, rows } = printTable(table);
  const cell = (tag: string, text: string, at: number): string =>
    `<${tag}${numeric[at] === true ? ' class="number"' : ""}>${escaped(text)}</${tag}>`;
  const line = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((text, at) => cell(tag, text, at)).join("")}</tr>`;
  return (
    `<div class="table"><table><caption>${escaped(table.caption)}</caption>` +
    `<thead>${line("th", heads)}</thead><tbody>${rows.map((cells) => line("td", cells)).join("")}</tbody></table></div>`
  );
}

const style = `
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1b1b1b;background:#fff}
h1,h2{line-height:1.2}nav a{margin-right:1em}figure{margin:1rem 0}img{max-width:100%;height:auto}
figcaption,caption,.facts{color:#444;font-size:.9rem;text-align:left}.table{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:.9rem}th,td{padding:.2rem .6rem;border-bottom:1px solid #ccc;text-align:left}
th{border-bottom:2px solid #444}.number{text-align:right;font-variant-numeric:tabular-nums}
.warnings li{border-left:4px solid #b00;padding-left:.6rem;list-style:none;margin:.3rem 0}.warnings{padding-left:0}
body{overflow-wrap:anywhere}th,td{overflow-wrap:normal;white-space:nowrap}td:not(.number){white-space:pre-line;min-width:8rem}
th:first-child,td:first-child{position:sticky;left:0;background:#fff}
@media(max-width:50rem){figure{overflow-x:auto}img{max-width:none;width:44rem}th,td{padding:.15rem .4rem}}
`;

/** Text as text: names come from files of others, and a mark that turns the direction of writing would turn the page. */
function escaped(text: string): string {
  return he.escape(singleLine(text));
}
