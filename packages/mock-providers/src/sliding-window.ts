/** Amounts that fell within the last 60 seconds, and the largest sums that any 60 seconds held. */
export interface SlidingWindow<Name extends string> {
  /** Adds amounts at a time; times never run back. */
  readonly add: (atMs: number, amounts: Readonly<Record<Name, number>>) => void;
  readonly maxima: () => Readonly<Record<Name, number>>;
}

const spanMs = 60_000;

/** Opens a window over the named amounts. Memory grows with the events of one span alone. */
export function openWindow<Name extends string>(names: readonly Name[]): SlidingWindow<Name> {
  const zero = (): Record<Name, number> => Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  const sums = zero();
  const maxima = zero();
  let events: { readonly atMs: number; readonly amounts: Readonly<Record<Name, number>> }[] = [];
  let oldest = 0;
  return {
    add: (atMs, amounts) => {
      for (let event = events[oldest]; event !== undefined && event.atMs <= atMs - spanMs; event = events[oldest]) {
        for (const name of names) sums[name] -= event.amounts[name];
        oldest += 1;
      }
      if (oldest > 1024) {
        events = events.slice(oldest);
        oldest = 0;
      }
      events.push({ atMs, amounts });
      for (const name of names) {
        sums[name] += amounts[name];
        maxima[name] = Math.max(maxima[name], sums[name]);
      }
    },
    maxima: () => ({ ...maxima }),
  };
}
