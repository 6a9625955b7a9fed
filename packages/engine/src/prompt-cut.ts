/** Below this share of the local estimate a provider has not seen the whole prompt: tokenisers differ by less. */
const cutShare = 0.4;

/**
 * Tells whether a provider silently cut the prompt: it counts far fewer input tokens than the local estimate. Gives the
 * message, or null where nothing is wrong or the provider does not count.
 *
 * SOURCE: spec/sweeps.md section 5 (`prompt_truncated`); reports of local servers that answer 200 on a cut prompt.
 */
export function isPromptCut(estimatedTokens: number, reportedTokens: number | null): string | null {
  if (reportedTokens === null || reportedTokens >= estimatedTokens * cutShare) return null;
  return (
    `the provider counted ${reportedTokens} input tokens where about ${estimatedTokens} were sent: ` +
    "the prompt was cut. Raise the server's context length."
  );
}
