import { readFileSync } from "node:fs";

/** Resident memory of a process. */
export interface ProcessMemory {
  readonly rssMb: number;
  /** The highest so far. */
  readonly peakMb: number;
}

/** Resident memory now and at its highest; null where the process has ended. Linux only. */
export function memoryOf(pid: number): ProcessMemory | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024;
    const [rssMb, peakMb] = [read("VmRSS"), read("VmHWM")];
    return Number.isNaN(rssMb) ? null : { rssMb: Math.round(rssMb), peakMb: Math.round(peakMb) };
  } catch {
    return null;
  }
}

/** What a process took, seen from outside to its end. */
export interface ProcessCost {
  /** Highest resident memory (VmHWM). */
  readonly peakMb: number;
  /** Processor time of all its threads, user and system: what it took however busy the machine was. */
  readonly cpuSeconds: number;
}

/** Watches a process to its end. */
export async function costOf(pid: number): Promise<ProcessCost> {
  let cost: ProcessCost = { peakMb: 0, cpuSeconds: 0 };
  for (let memory = memoryOf(pid); memory !== null; memory = memoryOf(pid)) {
    cost = { peakMb: memory.peakMb, cpuSeconds: cpuSecondsOf(pid) ?? cost.cpuSeconds };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return cost;
}

/** SOURCE: proc_pid_stat(5), fields 14 and 15, in ticks of a hundredth of a second. */
function cpuSecondsOf(pid: number): number | null {
  try {
    // The name, field 2, may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return null;
  }
}
