/** An event of the service's stream, as far as the page uses it. */
export interface LiveEvent {
  readonly event: string;
  readonly data: string;
}

/** What an event makes stale: everything, or all replies below these paths. */
export type Stale = { readonly kind: "all" } | { readonly kind: "below"; readonly paths: readonly string[] };

/** Reads an event. Null where it changes nothing that the page shows, or cannot be read. */
export function staleAfter({ event, data }: LiveEvent): Stale | null {
  switch (event) {
    case "hello":
      return fieldOf(data, "refresh") === true ? { kind: "all" } : null;
    case "sweep": {
      const name = fieldOf(data, "name");
      if (typeof name !== "string") return null;
      return { kind: "below", paths: ["/api/sweeps", `/api/sweeps/${encodeURIComponent(name)}`] };
    }
    case "lane":
      // Lanes are shared: any sweep's page may show it.
      return { kind: "all" };
    default:
      return null;
  }
}

/** Tells whether a reply's path is made stale: the list is only itself, a sweep all that is below it. */
export function isStale(stale: Stale, path: string): boolean {
  if (stale.kind === "all") return true;
  const [address = ""] = path.split("?");
  return stale.paths.some((base) => address === base || (base !== "/api/sweeps" && address.startsWith(`${base}/`)));
}

/** How old an answer must be to be read again, in milliseconds: the dearer it is to work out, the older. */
export function readAgainAfterMs(path: string): number {
  if (/\/experiments(?:\/|$)/.test(path)) return 60_000;
  if (/\/(?:leaderboard|compare)(?:\?|$)/.test(path)) return 15_000;
  return /\/grid(?:\?|$)/.test(path) ? 3000 : 900;
}

/** How long to wait before the next try to connect: doubled each time, at most ten seconds, with a share of chance. */
export function reconnectDelayMs(failures: number, chance: number): number {
  return Math.min(10_000, 500 * 2 ** Math.min(failures, 10)) * (0.75 + chance / 2);
}

function fieldOf(data: string, key: string): unknown {
  try {
    const read: unknown = JSON.parse(data);
    return typeof read === "object" && read !== null ? Object.getOwnPropertyDescriptor(read, key)?.value : undefined;
  } catch {
    return undefined;
  }
}
