export {
  type BootstrapOptions,
  bootstrapMean,
  bootstrapPairedDifference,
  type GroupedValue,
  type MeanEstimate,
  type PairedEstimate,
} from "./bootstrap.ts";
export { normalQuantile } from "./normal-quantile.ts";
export { type Summary, summarise } from "./summarise.ts";
export { type Interval, wilsonInterval } from "./wilson-interval.ts";
