import { describeMaze, drawMaze, encodeMaze, generateMaze, type Generator, type TrapPlacement } from "@hallumaze/maze";
import { buildPrompt } from "@hallumaze/protocol";
import { Option } from "commander";

import { exitCodes } from "../console.ts";
import { addMazeOptions } from "../inputs.ts";
import type { AddCommand } from "../program.ts";

interface MazeOptions {
  readonly size: number;
  readonly seed: number;
  readonly generator: Generator;
  readonly placement: TrapPlacement;
  readonly draw?: boolean;
  readonly text?: boolean;
  readonly prompt?: boolean;
  readonly mirage: boolean;
  readonly confidence: boolean;
  readonly lang: "ko" | "en";
}

/** `maze`: one maze as JSON, as a drawing, or as a model gets it. */
export const addMazeCommand: AddCommand = (program, console, register) => {
  const command = program.command("maze");
  addMazeOptions(command)
    .description("print one maze: as JSON, drawn, or as a model gets it")
    .option("--draw", "draw it")
    .option("--text", "print the maze's text as it stands in the prompt")
    .option("--prompt", "print the whole prompt that a model gets, system text first")
    .option("--no-mirage", "with --text and --prompt: without the tempting hints")
    .option("--no-confidence", "with --prompt: without asking for confidences")
    .addOption(
      new Option("--lang <language>", "with --text and --prompt: the language").choices(["ko", "en"]).default("ko"),
    )
    .option("--json", "print JSON (the default)")
    .addHelpText("after", "\nExample:\n  $ hallumaze maze --size 7 --seed 42 --draw\n");
  register(command, async (options: MazeOptions) => {
    const { size, seed, generator, placement } = options;
    const maze = generateMaze({ size, seed, generator, placement });
    if (options.draw) console.out(drawMaze(maze));
    if (options.text) console.out(encodeMaze(maze, { mirage: options.mirage, language: options.lang }));
    if (options.prompt) {
      const { mirage, confidence, lang: language } = options;
      const { system, user } = buildPrompt({ maze, mirage, language, confidence });
      console.out(`${system}\n\n${user}`);
    }
    if (!options.draw && !options.text && !options.prompt) console.out(JSON.stringify(describeMaze(maze)));
    return exitCodes.ok;
  });
};
