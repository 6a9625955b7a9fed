/** The three ways to turn a reply into numbers. */
export type ProfileName = "seed" | "published" | "robust";

/** The scores of one trial in one profile. Each number's range and formula stand in the file that computes it. */
export interface ProfileScores {
  readonly sr: 0 | 1;
  readonly hc: number;
  /** First error step, 1-based; -1 where there is none. */
  readonly fhr: number;
  readonly bt: number;
  readonly lt: number;
  readonly hrr: number;
  readonly mei: number;
  /** Null where no confidence was given. */
  readonly ce: number | null;
  /** Null where no attempt was made. */
  readonly brs: number | null;
  readonly score: number;
}

/** The version of each profile's rules; a change of a rule raises it, so that old and new rows never mix. */
export const profileVersions: Readonly<Record<ProfileName, string>> = { seed: "1", published: "1", robust: "1" };
