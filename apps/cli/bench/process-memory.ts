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

/** Watches a process to its end; gives the highest resident memory seen, in MB. */
export async function peakOf(pid: number): Promise<number> {
  let peakMb = 0;
  for (let memory = memoryOf(pid); memory !== null; memory = memoryOf(pid)) {
    peakMb = memory.peakMb;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return peakMb;
}
