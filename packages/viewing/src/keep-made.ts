/** What was made of a sweep, and of which version of it. */
interface Kept<Value> {
  readonly version: string;
  readonly atMs: number;
  readonly value: Promise<Value>;
}

/** Keeps what is dear to make, as long as its sweep stays the same. */
export interface SweepCache<Value> {
  /**
   * What stands for this version, made by `make` where it is missing. Of many askers at once one makes it. A sweep under way
   * changes all the time: what was made less than `freshMs` ago stands for the next versions too.
   */
  readonly of: (key: string, version: string, make: () => Promise<Value>) => Promise<Value>;
}

/** Opens an empty cache for `most` sweeps; the one that was asked for longest ago goes first. */
export function createSweepCache<Value>(settings: {
  readonly most: number;
  readonly freshMs: number;
  readonly now: () => number;
  /** Is given each value that is kept no longer. */
  readonly drop?: (value: Value) => void;
}): SweepCache<Value> {
  const { most, freshMs, now, drop = () => undefined } = settings;
  const letGo = ({ value }: Kept<Value>): void => void value.then(drop, () => undefined);
  const kept = new Map<string, Kept<Value>>();
  return {
    of: (key, version, make) => {
      const known = kept.get(key);
      kept.delete(key);
      if (known !== undefined && (known.version === version || now() - known.atMs < freshMs)) {
        kept.set(key, known);
        return known.value;
      }
      const made: Kept<Value> = { version, atMs: now(), value: make() };
      if (known !== undefined) letGo(known);
      kept.set(key, made);
      for (const [oldest, old] of kept) {
        if (kept.size <= most) break;
        kept.delete(oldest);
        letGo(old);
      }
      // What could not be made is not kept: the next asker tries again.
      made.value.catch(() => {
        if (kept.get(key) === made) kept.delete(key);
      });
      return made.value;
    },
  };
}
