/** Environment variables, as an argument: this package reads no environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Where a model is and which key it takes. */
export interface ModelAddress {
  readonly provider: string;
  /** The spec's own server; null for the provider's. */
  readonly baseUrl: string | null;
  /** The spec's own key variable, such as OPENROUTER_KEY; null for the provider's. */
  readonly keyEnv: string | null;
}

/** A server with its key. */
export interface Endpoint {
  readonly url: string;
  readonly key: string | null;
  /** Name of the variable that should hold the key; null where the server gets none. */
  readonly keyVariable: string | null;
}

/** Providers behind a network, with the variables of spec/sweeps.md section 2 and their public servers. */
export const vendorVariables = {
  anthropic: { key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL", publicUrl: "https://api.anthropic.com" },
  openai: { key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL", publicUrl: "https://api.openai.com/v1" },
  google: { key: "GOOGLE_API_KEY", url: "GOOGLE_BASE_URL", publicUrl: "https://generativelanguage.googleapis.com" },
  deepseek: { key: "DEEPSEEK_API_KEY", url: "DEEPSEEK_BASE_URL", publicUrl: "https://api.deepseek.com/v1" },
} as const;

/** Name of a provider behind a network. */
export type VendorName = keyof typeof vendorVariables;

/** Tells whether a provider is reached over the network. */
export function isVendor(provider: string): provider is VendorName {
  return Object.hasOwn(vendorVariables, provider);
}

/**
 * Finds a model's server and key. A `baseUrl` from a spec gets no key but that of its `keyEnv`: a spec from somewhere
 * else must not be able to send a key to its author's server.
 */
export function findEndpoint(
  address: ModelAddress & { readonly provider: VendorName },
  variables: Variables,
): Endpoint {
  const names = vendorVariables[address.provider];
  const keyVariable = address.keyEnv ?? (address.baseUrl === null ? names.key : null);
  const url = address.baseUrl ?? present(variables[names.url]) ?? names.publicUrl;
  return {
    url: withoutVersion(address.provider, url.replace(/\/+$/, "")),
    key: keyVariable === null ? null : present(variables[keyVariable]),
    keyVariable,
  };
}

/** Names every variable that these models need and that is absent or empty; each once, in order. */
export function findMissingKeys(models: readonly ModelAddress[], variables: Variables): readonly string[] {
  const missing = new Set<string>();
  for (const model of models) {
    if (!isVendor(model.provider)) continue;
    const { key, keyVariable } = findEndpoint({ ...model, provider: model.provider }, variables);
    if (key === null && keyVariable !== null) missing.add(keyVariable);
  }
  return [...missing].sort();
}

/** Takes keys out of text. */
export interface Redactor {
  /** Adds the key of a variable to those that are taken out. */
  readonly add: (variable: string, key: string) => void;
  readonly redact: (text: string) => string;
}

/** Below this length a "key" is a word such as `none` or `ollama`, and taking it out would rewrite replies. */
const shortestSecret = 8;

/** Opens a redactor that knows the providers' own keys; each is replaced by `[redacted NAME]`. */
export function openRedactor(variables: Variables): Redactor {
  const forms = new Map<string, string>();
  const add = (variable: string, key: string): void => {
    if (key.length < shortestSecret) return;
    for (const form of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), base64(key)]) {
      forms.set(form, `[redacted ${variable}]`);
    }
  };
  for (const { key } of Object.values(vendorVariables)) {
    const value = present(variables[key]);
    if (value !== null) add(key, value);
  }
  return {
    add,
    redact: (text) => {
      let clean = text;
      for (const [form, mark] of forms) if (clean.includes(form)) clean = clean.replaceAll(form, () => mark);
      return clean;
    },
  };
}

/** Anthropic and Google take the host alone; a version path copied from a browser would be sent twice. */
function withoutVersion(provider: VendorName, url: string): string {
  return provider === "anthropic" || provider === "google" ? url.replace(/\/v1(beta)?$/, "") : url;
}

/** A key pasted with its newline would break the header, and an empty variable is an absent one. */
function present(value: string | undefined): string | null {
  const trimmed = value?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
