export { type DecodedMaze, decodeMaze } from "./decode-maze.ts";
export { describeMaze, type MazeDescription } from "./describe-maze.ts";
export { type DrawOptions, drawMaze } from "./draw-maze.ts";
export { type EncodeOptions, encodeMaze } from "./encode-maze.ts";
export { MazeError, type MazeErrorCode } from "./errors.ts";
export { generateMaze, type MazeRequest, mazeSizes } from "./generate-maze.ts";
export {
  cellAt,
  cellIndex,
  directionArrows,
  directionBetween,
  directionBits,
  exitCell,
  type Grid,
  inGrid,
  isOpen,
  openDirections,
  opposite,
  printOrder,
  sameCell,
  scanOrder,
  step,
} from "./grid.ts";
export { hintSentence, hintSentenceCount, type TextLanguage } from "./hint-sentences.ts";
export type { Cell, Direction, Generator, Maze, MazePlan, Trap, TrapPlacement } from "./maze.ts";
export { mazeHash } from "./maze-hash.ts";
export { type Difficulty, measureDifficulty } from "./measure-difficulty.ts";
export { directionsOffSolution, maxTraps } from "./place-traps.ts";
export { type Branches, deadEnds, findBranches, findPath, nextOnRoute, type Route, routeToExit } from "./solve.ts";
