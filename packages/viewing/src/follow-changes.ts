import type { HelloEvent, LaneEvent, SweepEvent } from "@hallumaze/contract";

import type { LedgerVersions } from "./ports.ts";

/** One event as it is sent. */
export type PageEvent =
  | { readonly id: string; readonly event: "hello"; readonly data: HelloEvent }
  | { readonly id: string; readonly event: "sweep"; readonly data: SweepEvent }
  | { readonly id: string; readonly event: "lane"; readonly data: LaneEvent };

/** What changed in a ledger, numbered, so that a listener that was away hears what it missed. */
export interface ChangeLog {
  /** Compares a look with the one before and gives the events of what differs; the first look gives none. */
  readonly see: (versions: LedgerVersions) => readonly PageEvent[];
  /**
   * What a new listener is told: a hello, and what it missed since the event of `lastId`. Where that is of another run of
   * the program, or too long ago, the hello says that everything is to be read again.
   */
  readonly welcome: (lastId: string | null) => readonly PageEvent[];
}

/** Events that are remembered: some minutes of a busy sweep. */
const remembered = 500;

/** Opens an empty log. `run` tells this run of the program from every other. */
export function createChangeLog(settings: { readonly run: string; readonly version: string }): ChangeLog {
  const { run, version } = settings;
  let last: LedgerVersions | null = null;
  let number = 0;
  const events: PageEvent[] = [];

  const numbered = (): string => {
    number += 1;
    return `${run}-${number}`;
  };
  const keep = (event: PageEvent): PageEvent => {
    events.push(event);
    if (events.length > remembered) events.shift();
    return event;
  };
  return {
    see: (versions) => {
      const before = last;
      last = versions;
      if (before === null) return [];
      const sweeps = differing(before.sweeps, versions.sweeps).map(([name, word]) =>
        keep({ id: numbered(), event: "sweep", data: { name, version: word ?? "", gone: word === null } }),
      );
      const lanes = differing(before.lanes, versions.lanes).map(([lane, word]) =>
        keep({ id: numbered(), event: "lane", data: { lane, version: word ?? "" } }),
      );
      return [...sweeps, ...lanes];
    },
    welcome: (lastId) => {
      const heard = lastId === null ? number : heardUntil(lastId, run);
      const missed = heard === null ? null : missedSince(events, heard, number);
      const hello: PageEvent = {
        id: `${run}-${number}`,
        event: "hello",
        data: { version, refresh: missed === null },
      };
      return [hello, ...(missed ?? [])];
    },
  };
}

function differing(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly (readonly [name: string, word: string | null])[] {
  const changed = [...after].filter(([name, word]) => before.get(name) !== word);
  const gone = [...before.keys()].filter((name) => !after.has(name));
  return [...changed, ...gone.map((name) => [name, null] as const)];
}

/** The number of an event of this run; null for any other text. */
function heardUntil(lastId: string, run: string): number | null {
  const count = lastId.startsWith(`${run}-`) ? lastId.slice(run.length + 1) : "";
  return /^\d{1,15}$/.test(count) ? Number(count) : null;
}

function missedSince(events: readonly PageEvent[], heard: number, number: number): readonly PageEvent[] | null {
  const missing = number - heard;
  if (missing < 0 || missing > events.length) return null;
  return missing === 0 ? [] : events.slice(-missing);
}
