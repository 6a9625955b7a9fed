/** Names within a bundle that `replay` reads. */
export const bundleFiles = {
  spec: "spec.json",
  records: "records.jsonl.gz",
  imported: "imported.jsonl.gz",
  report: "report",
} as const;
