/** Parts of a sweep's page. */
export const sweepTabs = ["grid", "leaderboard", "failures", "lanes", "experiments"] as const;
export type SweepTab = (typeof sweepTabs)[number];

/** What an address of the page stands for. */
export type Route =
  | { readonly view: "sweeps" }
  | { readonly view: "sweep"; readonly name: string; readonly tab: SweepTab }
  | { readonly view: "trial"; readonly id: string; readonly beside: string | null; readonly sweep: string | null }
  | { readonly view: "judge" }
  | { readonly view: "label"; readonly set: string }
  | { readonly view: "walk" }
  | { readonly view: "unknown" };

/** Reads the part of an address after `#`. What it does not know is `unknown`; it never throws. */
export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?");
  const words = path
    .split("/")
    .filter((word) => word !== "")
    .map(decode);
  const [first, second, third, fourth] = words;
  if (first === undefined || (first === "sweeps" && second === undefined)) return { view: "sweeps" };
  if (first === "sweeps" && second !== undefined) {
    const tab = third === undefined ? "grid" : sweepTabs.find((known) => known === third);
    return tab === undefined ? { view: "unknown" } : { view: "sweep", name: second, tab };
  }
  if (first === "trials" && second !== undefined) {
    const sweep = new Map(query.split("&").map((pair) => splitPair(pair))).get("sweep") ?? null;
    return { view: "trial", id: second, beside: third === "beside" ? (fourth ?? null) : null, sweep };
  }
  if (first === "judge") return { view: "judge" };
  if (first === "label" && second !== undefined) return { view: "label", set: second };
  return first === "walk" ? { view: "walk" } : { view: "unknown" };
}

/** The address of a view, from `#` on. */
export function routeAddress(route: Exclude<Route, { view: "unknown" }>): string {
  switch (route.view) {
    case "sweeps":
      return "#/";
    case "sweep":
      return `#/sweeps/${encodeURIComponent(route.name)}${route.tab === "grid" ? "" : `/${route.tab}`}`;
    case "trial": {
      const beside = route.beside === null ? "" : `/beside/${encodeURIComponent(route.beside)}`;
      const sweep = route.sweep === null ? "" : `?sweep=${encodeURIComponent(route.sweep)}`;
      return `#/trials/${encodeURIComponent(route.id)}${beside}${sweep}`;
    }
    case "label":
      return `#/label/${encodeURIComponent(route.set)}`;
    case "judge":
      return "#/judge";
    case "walk":
      return "#/walk";
  }
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf("=");
  return at < 0 ? [pair, ""] : [pair.slice(0, at), decode(pair.slice(at + 1))];
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
