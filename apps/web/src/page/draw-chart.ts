import { type Loader, loader, parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";

/**
 * Draws a specification into an element, as wide as it is. Its colours are those of paper, black among them, so its ground is
 * white in a dark page too. Rejects where it cannot be read.
 */
export async function drawChart(
  element: HTMLElement,
  spec: object,
  options: { readonly title: string; readonly width: number },
): Promise<{ readonly finalize: () => void }> {
  const config = { background: "#ffffff", font: "system-ui, sans-serif", view: { stroke: null } };
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
  return { ...spec, width: Math.max(280, Math.min(width, 900)), autosize: { type: "fit-x", contains: "padding" } };
}

/** A loader that follows no address, whatever a specification asks for. */
function closedLoader(): Loader {
  const refuse = () => Promise.reject(new Error("A chart of this page loads nothing."));
  return { ...loader(), load: refuse, sanitize: refuse, http: refuse, file: refuse };
}
