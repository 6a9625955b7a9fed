export type { Cell, Direction, Generator, Maze, MazePlan, Trap, TrapPlacement } from "./maze.ts";
