export { adjustPValues, type Correction } from "./adjust-p-values.ts";
export {
  type BootstrapOptions,
  bootstrapGroups,
  bootstrapMean,
  bootstrapPairedDifference,
  type GroupedValue,
  type GroupMean,
  groupMeans,
  type MeanBootstrapOptions,
  type MeanEstimate,
  type PairedEstimate,
} from "./bootstrap.ts";
export { bootstrapDraws, bootstrapStatistic, resample, type StatisticEstimate } from "./bootstrap-statistic.ts";
export { clopperPearson } from "./clopper-pearson.ts";
export type { Coefficient } from "./coefficient.ts";
export { cohenKappa, type KappaWeights } from "./cohen-kappa.ts";
export { detectableDifference, groupsNeeded, type TestDesign } from "./detectable-effect.ts";
export { expandedFrom, expandedInterval } from "./expanded-interval.ts";
export { fisherExact } from "./fisher-exact.ts";
export { glassDelta } from "./glass-delta.ts";
export { type IntraclassCorrelation, intraclassCorrelation } from "./intraclass-correlation.ts";
export { krippendorffAlphaOrdinal, krippendorffAlphaOrdinalOfTable } from "./krippendorff-alpha.ts";
export { mcnemarExact } from "./mcnemar-exact.ts";
export { missingBounds } from "./missing-bounds.ts";
export { normalTwoSided, normalUpperTail } from "./normal-distribution.ts";
export { normalQuantile } from "./normal-quantile.ts";
export { countResampler } from "./resample-counts.ts";
export type { IntervalMethod } from "./resampled-interval.ts";
export { type SignFlipTest, signFlipTest } from "./sign-flip.ts";
export { averageRanks, correlateRanks, spearman } from "./spearman.ts";
export { type Summary, summarise } from "./summarise.ts";
export { type SignedRankOptions, type SignedRankTest, wilcoxonSignedRank } from "./wilcoxon.ts";
export { clusteredWilsonInterval, type Interval, wilsonInterval } from "./wilson-interval.ts";
