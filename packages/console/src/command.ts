import type { Command } from "commander";

import type { Console, ExitCode } from "./console.ts";

/** Registers a command's action: what it returns becomes the exit code. */
export type Register = (command: Command, action: (...words: never[]) => Promise<ExitCode>) => void;

/** Adds one command to the program. */
export type AddCommand = (program: Command, console: Console, register: Register) => void;
