export {
  type BootstrapOptions,
  bootstrapMean,
  bootstrapPairedDifference,
  type GroupedValue,
  type MeanEstimate,
  type PairedEstimate,
} from "./bootstrap.ts";
export { bootstrapDraws, bootstrapStatistic, resample, type StatisticEstimate } from "./bootstrap-statistic.ts";
export { clopperPearson } from "./clopper-pearson.ts";
export type { Coefficient } from "./coefficient.ts";
export { cohenKappa, type KappaWeights } from "./cohen-kappa.ts";
export { krippendorffAlphaOrdinal, krippendorffAlphaOrdinalOfTable } from "./krippendorff-alpha.ts";
export { mcnemarExact } from "./mcnemar-exact.ts";
export { normalQuantile } from "./normal-quantile.ts";
export { countResampler } from "./resample-counts.ts";
export { averageRanks, spearman } from "./spearman.ts";
export { type Summary, summarise } from "./summarise.ts";
export { type Interval, wilsonInterval } from "./wilson-interval.ts";
