import { resolve } from "node:path";

import { analyseReply, type ReplyAnalysis } from "@hallumaze/engine";
import { generateMaze, type Generator, type TrapPlacement } from "@hallumaze/maze";
import { summariseWalk } from "@hallumaze/metrics";
import type { FinishReason } from "@hallumaze/protocol";

import { UsageError } from "../errors.ts";
import { exitCodes } from "../console.ts";
import type { AddCommand } from "../program.ts";
import { addMazeOptions, readText } from "../inputs.ts";

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
    const text = file === "-" ? await console.readInput() : await readText(resolve(console.workingFolder, file), file);
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
