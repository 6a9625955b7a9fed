import type { Theme } from "@hallumaze/display";
import { type Loader, loader, parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";

const inks: Readonly<Record<Theme, { readonly ink: string; readonly line: string }>> = {
  light: { ink: "#222222", line: "#dddddd" },
  dark: { ink: "#e8e8e6", line: "#44474c" },
};

/** Draws a specification into an element, as wide as it is, in the page's light. Rejects where it cannot be read. */
export async function drawChart(
  element: HTMLElement,
  spec: object,
  options: { readonly title: string; readonly theme: Theme; readonly width: number },
): Promise<{ readonly finalize: () => void }> {
  const { ink, line } = inks[options.theme];
  const text = { labelColor: ink, titleColor: ink };
  const config = {
    background: "transparent",
    font: "system-ui, sans-serif",
    axis: { ...text, domainColor: ink, tickColor: ink, gridColor: line },
    legend: text,
    header: text,
    title: { color: ink },
    text: { color: ink },
    rule: { color: ink },
    view: { stroke: null },
  };
  const { spec: vega } = compile(fitted(spec, options.width) as TopLevelSpec, { config });
  const view = new View(parse(vega, undefined, { ast: true }), {
    expr: expressionInterpreter,
    loader: closedLoader(),
    renderer: "svg",
    container: element,
    hover: false,
  });
  view.description(options.title);
  await view.runAsync();
  return { finalize: () => view.finalize() };
}

/** The specification holds no width, as paper decides it: here the window does, where the chart has one view only. */
function fitted(spec: object, width: number): object {
  const isSingle = "mark" in spec || "layer" in spec;
  if (!isSingle || "width" in spec) return spec;
  return { ...spec, width: Math.max(200, Math.min(width, 900) - 160), autosize: { type: "pad" } };
}

/** A loader that follows no address, whatever a specification asks for. */
function closedLoader(): Loader {
  const refuse = () => Promise.reject(new Error("A chart of this page loads nothing."));
  return { ...loader(), load: refuse, sanitize: refuse, http: refuse, file: refuse };
}
