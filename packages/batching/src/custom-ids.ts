/**
 * The custom id of a row: letters, digits, dashes and underscores, at most 64 of them, as all vendors take. It holds the
 * batch's id, so that a result says whose it is.
 */
export function customIdOf(batchId: string, position: number): string {
  return `${prefixOf(batchId)}${position}`;
}

/** The position of a row of this batch by its custom id; null where the id is not of this batch. */
export function positionOf(batchId: string, customId: string | null): number | null {
  const prefix = prefixOf(batchId);
  if (customId === null || !customId.startsWith(prefix)) return null;
  const digits = customId.slice(prefix.length);
  return /^(?:0|[1-9]\d{0,8})$/.test(digits) ? Number(digits) : null;
}

function prefixOf(batchId: string): string {
  return `hm-${batchId.replaceAll("-", "")}-`;
}
