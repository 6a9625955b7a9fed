export { type ProfileName, type ProfileScores, profileVersions } from "./profiles.ts";
export type { BranchEntry, MoveKind, Relocation, Walk, WalkStep } from "./walk.ts";
