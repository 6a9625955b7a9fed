import { describeMaze, drawMaze, encodeMaze, generateMaze, type Generator, type TrapPlacement } from "@hallumaze/maze";
import { Option } from "commander";

import { exitCodes } from "../console.ts";
import { integerBetween } from "../inputs.ts";
import type { AddCommand } from "../program.ts";

interface MazeOptions {
  readonly size: number;
  readonly seed: number;
  readonly generator: Generator;
  readonly placement: TrapPlacement;
  readonly draw?: boolean;
  readonly text?: boolean;
  readonly mirage: boolean;
  readonly lang: "ko" | "en";
}

/** `maze`: one maze as JSON, as a drawing, or as the text that a model sees. */
export const addMazeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("maze")
    .description("print one maze: as JSON, drawn, or as the text that a model sees")
    .requiredOption("--size <n>", "rows and columns, 3 to 101", integerBetween(3, 101))
    .requiredOption("--seed <n>", "seed, 0 or more", integerBetween(0, Number.MAX_SAFE_INTEGER))
    .addOption(
      new Option("--generator <name>", "how walls are chosen")
        .choices(["dfs", "kruskal", "wilson", "prim"])
        .default("dfs"),
    )
    .addOption(
      new Option("--placement <name>", "where traps are put").choices(["path-order", "sampled"]).default("path-order"),
    )
    .option("--draw", "draw it")
    .option("--text", "print the text that a model sees")
    .option("--no-mirage", "with --text: without the tempting hints")
    .addOption(new Option("--lang <language>", "with --text: its language").choices(["ko", "en"]).default("ko"))
    .option("--json", "print JSON (the default)")
    .addHelpText("after", "\nExample:\n  $ hallumaze maze --size 7 --seed 42 --draw\n");
  register(command, async (options: MazeOptions) => {
    const { size, seed, generator, placement } = options;
    const maze = generateMaze({ size, seed, generator, placement });
    if (options.draw) console.out(drawMaze(maze));
    if (options.text) console.out(encodeMaze(maze, { mirage: options.mirage, language: options.lang }));
    if (!options.draw && !options.text) console.out(JSON.stringify(describeMaze(maze)));
    return exitCodes.ok;
  });
};
