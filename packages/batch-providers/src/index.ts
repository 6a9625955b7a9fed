export { BatchProvidersError } from "./errors.ts";
export { openBatchVendors } from "./open-batch-vendors.ts";
