/**
 * The exact two-sided p-value of McNemar's test: of the items on which exactly one of two methods is right, is one
 * method right more often than the other?
 *
 * `onlyFirst` and `onlySecond` count the items that one method alone gets right; the items on which both are right or
 * both wrong say nothing. 1 where there is no such item. Throws a RangeError on anything but whole counts.
 * SOURCE: McNemar (1947), Psychometrika 12:153-157; the exact conditional test as in Fagerland, Lydersen & Laake (2013),
 * BMC Medical Research Methodology 13:91.
 */
export function mcnemarExact(onlyFirst: number, onlySecond: number): number {
  for (const count of [onlyFirst, onlySecond]) {
    if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`expected a whole count, got ${count}`);
  }
  const n = onlyFirst + onlySecond;
  // The terms of Binomial(n, 1/2) in logarithms: 2^-n is no double above n = 1074.
  let log = -n * Math.LN2;
  let tail = 0;
  for (let count = 0; count <= Math.min(onlyFirst, onlySecond); count++) {
    tail += Math.exp(log);
    log += Math.log((n - count) / (count + 1));
  }
  return Math.min(1, 2 * tail);
}
