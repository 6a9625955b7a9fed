/** Every baseline agent, in the order in which reports list them: the able, the erring, the hinted, the cheating. */
export const solverNames = [
  "oracle",
  "wall-follower",
  "dfs-honest",
  "dfs-forgetful",
  "greedy-se",
  "random-walk",
  "mirage-prone",
  "overconfident",
  "calibrated",
  "error-aware",
  "hint-taker",
  "hint-deaf",
  "keyword",
  "tail",
  "phantom",
  "silent",
  "template-echo",
  "raster",
  "pump",
] as const;

/** The name of a baseline agent: the model of a request to provider `sim`. SOURCE: spec section 8. */
export type SolverName = (typeof solverNames)[number];

/** Tells whether a text names a baseline agent. */
export function isSolverName(text: string): text is SolverName {
  return (solverNames as readonly string[]).includes(text);
}
