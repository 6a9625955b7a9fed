import { type Console, readText, UsageError } from "@hallumaze/console";

import { parseSeedConfig, type SeedConfig } from "@hallumaze/sweep";

/** The vendors of the seed document with the variables of its section 12 and its recommended models. */
export const vendors = [
  {
    provider: "anthropic",
    key: "ANTHROPIC_API_KEY",
    modelVariable: "ANTHROPIC_MODEL",
    model: "claude-sonnet-4-20250514",
  },
  { provider: "openai", key: "OPENAI_API_KEY", modelVariable: "OPENAI_MODEL", model: "gpt-4o" },
  { provider: "google", key: "GOOGLE_API_KEY", modelVariable: null, model: "gemini-2.5-flash" },
  { provider: "deepseek", key: "DEEPSEEK_API_KEY", modelVariable: null, model: "deepseek-reasoner" },
] as const;

/** What runs where no model is chosen and no vendor can be called: from the ceiling to the floor. */
export const standIns: readonly string[] = ["sim/oracle", "sim/dfs-honest", "sim/dfs-forgetful", "sim/random-walk"];

/** Reads a config.json; keys in it stay in memory, with a warning that names the variable to use. */
export async function readConfig(console: Console, path: string): Promise<SeedConfig> {
  const config = parseSeedConfig(await readText(console, path), path);
  for (const { provider } of config.keys) {
    const vendor = vendors.find((known) => known.provider === provider);
    const variable = vendor ? `Set ${vendor.key} in the environment instead.` : "It is ignored.";
    console.err(`warning: ${path} holds a key for ${provider}; it is kept in memory only. ${variable}`);
  }
  return config;
}

/**
 * The models of a seed command: those named, else those of the config file, else the vendors whose key is set, else the
 * baseline solvers.
 */
export function chooseModels(
  console: Console,
  config: SeedConfig | null,
  named: readonly string[] | undefined,
): readonly string[] {
  if (named !== undefined && named.length > 0) return named;
  if (config !== null && config.providers.length > 0) {
    return config.providers.map(({ provider, model }) => `${provider}/${model ?? defaultModel(console, provider)}`);
  }
  const ready = vendors.filter((vendor) => console.variables[vendor.key]);
  if (ready.length > 0) return ready.map(({ provider }) => `${provider}/${defaultModel(console, provider)}`);
  console.err(`note: no model was chosen (--model, --config): running the baseline solvers ${standIns.join(", ")}`);
  return standIns;
}

/** Keys by the variable that each would stand in. */
export function keyVariables(keys: SeedConfig["keys"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    keys.flatMap(({ provider, apiKey }) => {
      const vendor = vendors.find((known) => known.provider === provider);
      return vendor ? [[vendor.key, apiKey] as const] : [];
    }),
  );
}

/** The model of a provider that is named without one. */
export function defaultModel(console: Console, provider: string): string {
  const vendor = vendors.find((known) => known.provider === provider);
  if (!vendor) throw new UsageError(`provider "${provider}" needs a model: add "model" to its entry.`);
  return (vendor.modelVariable && console.variables[vendor.modelVariable]) || vendor.model;
}
