import { type AddCommand, exitCodes, readText, UsageError } from "@hallumaze/console";

import { analyseReply, type ReplyAnalysis } from "@hallumaze/engine";
import { describeMaze, drawMaze, encodeMaze, generateMaze, type Generator, type TrapPlacement } from "@hallumaze/maze";
import { summariseWalk } from "@hallumaze/metrics";
import { buildPrompt, type FinishReason } from "@hallumaze/protocol";
import { Option } from "commander";

import { addMazeOptions } from "../inputs.ts";

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

interface ScoreOptions {
  readonly size: number;
  readonly seed: number;
  readonly generator: Generator;
  readonly placement: TrapPlacement;
  readonly mirage: boolean;
  readonly confidence: boolean;
  readonly finishReason?: string;
  readonly lenient?: boolean;
}

/** Vendors' words for how a reply ended. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  content_filter: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  prohibited_content: "content_filter",
  refusal: "refusal",
  other: "other",
};

/** `score FILE|-`: reads and scores one reply and prints all of it as JSON. */
export const addScoreCommand: AddCommand = (program, console, register) => {
  const command = program.command("score");
  addMazeOptions(command)
    .description("read, walk and score one reply to one maze; prints JSON")
    .argument("<file>", "file with the reply, - for standard input")
    .option("--no-mirage", "the prompt carried no tempting hints")
    .option("--no-confidence", "the prompt did not ask for confidences")
    .option("--finish-reason <reason>", "how the reply ended, in a vendor's words (stop, length, refusal …)")
    .option("--lenient", "allow one global change of coordinates that makes the log consistent")
    .option("--json", "print JSON (the default)")
    .addHelpText("after", "\nExample:\n  $ hallumaze score reply.txt --size 7 --seed 42\n");
  register(command, async (file: string, options: ScoreOptions) => {
    const { size, seed, generator, placement } = options;
    const finishReason = parseFinishReason(options.finishReason);
    const text = file === "-" ? await console.readInput() : await readText(console, file);
    const analysis = analyseReply(generateMaze({ size, seed, generator, placement }), text, {
      mirage: options.mirage,
      confidenceAsked: options.confidence,
      finishReason,
      mode: options.lenient ? "lenient" : "strict",
    });
    console.out(JSON.stringify(scoreJson(analysis)));
    return exitCodes.ok;
  });
};

function parseFinishReason(word: string | undefined): FinishReason | null {
  if (word === undefined) return null;
  const reason = finishReasons[word.toLowerCase()];
  if (reason) return reason;
  throw new UsageError(`unknown finish reason "${word}". Known: ${Object.keys(finishReasons).join(", ")}.`);
}

/** The JSON of spec/sweeps.md section 7. */
function scoreJson({ reading, walk, profiles, confidence, patterns }: ReplyAnalysis) {
  return {
    outcome: reading.outcome,
    reading: {
      attempts: reading.attempts.map(({ index, from, dir, to, confidence: stated, flags }) => ({
        index,
        from,
        dir,
        to,
        confidence: stated,
        flags,
      })),
      finalPath: reading.finalPath,
      claims: reading.claims.map(({ kind, at, seenAtStep }) => ({ kind, at, seenAtStep })),
      flags: reading.flags,
      selfReport: reading.selfReport,
      confidenceLog: reading.confidenceLog,
      gaveUp: reading.gaveUp,
      mode: reading.mode,
      templateEchoes: reading.templateEchoes,
      reasoning: reading.reasoning,
    },
    walk: summariseWalk(walk),
    profiles,
    confidence: { ...confidence, patterns },
  };
}
