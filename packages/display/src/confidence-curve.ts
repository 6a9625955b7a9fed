/** A point of a curve in its own units: x is the 0-based attempt, y the confidence 0 … 1. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/**
 * The confidences of a walk as runs of points: attempts without one leave a gap, for unknown is not zero.
 *
 * Above `pointsMax` points, neighbours are joined to the least and the greatest of them, so that no dip gets lost.
 */
export function confidenceRuns(
  confidences: readonly (number | null)[],
  pointsMax = 1200,
): readonly (readonly CurvePoint[])[] {
  const group = Math.max(1, Math.ceil((confidences.length * 2) / pointsMax));
  const runs: CurvePoint[][] = [];
  let run: CurvePoint[] = [];
  const close = () => {
    if (run.length > 0) runs.push(run);
    run = [];
  };
  for (let start = 0; start < confidences.length; start += group) {
    const points = confidences
      .slice(start, start + group)
      .flatMap((y, at) => (y === null ? [] : [{ x: start + at, y }]));
    if (points.length === 0) close();
    else run.push(...extremes(points));
  }
  close();
  return runs;
}

/** A run as a path in a box of the given size, with y upwards. */
export function runPath(
  points: readonly CurvePoint[],
  box: { readonly width: number; readonly height: number; readonly length: number },
): string {
  return points
    .map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${round(curveX(x, box))} ${round((1 - y) * box.height)}`)
    .join("");
}

/** Where an attempt stands along the box: attempts stand in the middle of equal shares. */
export function curveX(at: number, box: { readonly width: number; readonly length: number }): number {
  return box.length === 0 ? 0 : ((at + 0.5) / box.length) * box.width;
}

function extremes(points: readonly CurvePoint[]): readonly CurvePoint[] {
  if (points.length <= 2) return points;
  const least = points.reduce((one, other) => (other.y < one.y ? other : one));
  const most = points.reduce((one, other) => (other.y > one.y ? other : one));
  if (least === most) return [least];
  return least.x < most.x ? [least, most] : [most, least];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
