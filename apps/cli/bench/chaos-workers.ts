// The workers of a chaos run: started, hurt, and started again where they end, as a supervisor would.
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type Program, type Stage, withFaults } from "../test/program-stage.ts";

/** Whose clock is set: by libfaketime, as every process of a host would see it, or inside the process alone. */
export type ClockBy = { readonly libfaketime: string } | "preload";

/** One worker that a fault may take. */
export interface Victim {
  readonly kill: (signal: "SIGKILL" | "SIGTERM") => void;
  readonly ended: Promise<unknown>;
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Lets its event loop stand still. */
  readonly block: (ms: number) => void;
  /** Sets its wall clock off by so much, until set anew. */
  readonly setClock: (offsetMs: number) => void;
}

/** What a supervisor saw. */
export interface Endings {
  /** Workers that ended by themselves before they had begun: a server was away for longer than they wait for it. */
  readonly beforeWork: number;
  /** What workers said that ended by themselves in mid-work. Has to be empty. */
  readonly inWork: readonly string[];
}

/** So many workers, kept at that number. */
export interface Pool extends AsyncDisposable {
  /** Takes a worker at work that no other fault has; null where there is none. Give it back in the end. */
  readonly take: (pick: (count: number) => number) => Victim | null;
  readonly giveBack: (victim: Victim) => void;
  readonly endings: () => Endings;
  /** Sets every clock right and lets every worker end in order; gives the exit codes. */
  readonly stop: () => Promise<readonly (number | null)[]>;
}

interface Worker extends Victim {
  readonly program: Program;
  isAtWork: boolean;
  isTaken: boolean;
  isExpected: boolean;
}

/** Starts the workers. */
export function startWorkers(
  stage: Stage,
  { count, words, clockBy }: { readonly count: number; readonly words: readonly string[]; readonly clockBy: ClockBy },
): Pool {
  const workers = new Set<Worker>();
  const endings = { beforeWork: 0, inWork: [] as string[] };
  let isOver = false;

  const start = (): void => {
    const folder = mkdtempSync(join(stage.folder, "worker-"));
    const [faultFile, clockFile] = [join(folder, "fault.json"), join(folder, "clock")];
    writeFileSync(clockFile, "+0");
    const program = stage.start(words, {
      ...withFaults,
      WORKER_FAULT: faultFile,
      ...(clockBy === "preload" ? {} : fakeTime(clockBy.libfaketime, clockFile)),
    });
    const tell = (fault: object): void => {
      writeFileSync(faultFile, JSON.stringify(fault));
      program.kill("SIGUSR2");
    };
    const worker: Worker = {
      program,
      isAtWork: false,
      isTaken: false,
      isExpected: false,
      ended: program.ended,
      kill: (signal) => {
        worker.isExpected = true;
        program.kill(signal);
      },
      freeze: () => program.kill("SIGSTOP"),
      thaw: () => program.kill("SIGCONT"),
      block: (blockMs) => tell({ blockMs }),
      setClock: (offsetMs) => {
        if (clockBy === "preload") tell({ clockMs: offsetMs });
        else writeFileSync(clockFile, `${offsetMs < 0 ? "-" : "+"}${Math.abs(offsetMs) / 1000}`);
      },
    };
    workers.add(worker);
    program.says("worker: role").then(
      () => {
        worker.isAtWork = true;
      },
      () => undefined,
    );
    void program.ended.then(async ({ code, signal, err }) => {
      workers.delete(worker);
      if (!worker.isExpected) {
        if (worker.isAtWork) endings.inWork.push(`${code ?? signal}: ${err.slice(-2000)}`);
        else endings.beforeWork += 1;
        await sleep(1000);
      }
      if (!isOver) start();
    });
  };
  for (let number = 0; number < count; number += 1) start();

  const stop = async (): Promise<readonly (number | null)[]> => {
    isOver = true;
    const left = [...workers];
    for (const worker of left) {
      worker.isExpected = true;
      worker.program.kill("SIGTERM");
    }
    const ended = await Promise.all(left.map(({ program }) => program.ended));
    return ended.map(({ code }) => code);
  };
  return {
    take: (pick) => {
      const free = [...workers].filter(({ isAtWork, isTaken, isExpected }) => isAtWork && !isTaken && !isExpected);
      const worker = free[free.length === 0 ? 0 : pick(free.length)];
      if (worker !== undefined) worker.isTaken = true;
      return worker ?? null;
    },
    giveBack: (victim) => {
      for (const worker of workers) if (worker === victim) worker.isTaken = false;
    },
    endings: () => endings,
    stop,
    // Whoever gets here without `stop` has failed: nobody waits for calls any more.
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      for (const { program } of workers) program.kill("SIGKILL");
    },
  };
}

/** Only the wall clock: no correction of a host's clock sets back the one that timers go by. */
function fakeTime(library: string, clockFile: string): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}
