import { picoDollars, type Usage, usdOf } from "@hallumaze/engine";

/** US dollars for a million tokens, as exact decimals. */
export interface Price {
  readonly input: string;
  /** Null where a cached token costs what any other does, or the price is not known: then `input` is charged. */
  readonly cached: string | null;
  /** For a token that is written to the cache; null where that costs what any input does. */
  readonly cacheWrite: string | null;
  readonly output: string;
  /** Requests with more input than this have another price: their cost is unknown here. Null where one price holds. */
  readonly upToInputTokens: number | null;
  /** ISO date of the price list; null for a price of the spec's own. */
  readonly date: string | null;
}

/** The day on which the table was made. */
export const priceDate = "2026-11-29";

/** What an exchange cost. */
export interface Cost {
  /** Exact decimal US dollars, no trailing zeros. */
  readonly usd: string;
  /** ISO date of the price list; null where the spec names the price. */
  readonly priceDate: string | null;
}

type Row = readonly [
  names: string,
  input: string,
  cached: string | null,
  output: string,
  cacheWrite?: string | null,
  upTo?: number,
];

/**
 * List prices without batch, priority or regional rates. SOURCE: @pydantic/genai-prices 0.1.8 (data of 2026-09-23); what
 * is newer from the vendors' price lists and from release notes that quote them (Claude 5.5 and Fable 5.2:
 * platform.claude.com; GPT-6: developers.openai.com; DeepSeek: api-docs.deepseek.com), read 2026-11-29. DeepSeek has two
 * prices by time of day: the higher is taken, so that a budget holds.
 */
const table: Readonly<Record<string, readonly Row[]>> = {
  anthropic: [
    ["claude-fable-5-2", "8", null, "40", "10"],
    ["claude-fable-5-1", "10", "0.25", "50", "12.5"],
    ["claude-fable-5", "10", "1", "50", "12.5"],
    ["claude-opus-5-5", "4", "0.2", "20", "5"],
    ["claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6", "5", "0.5", "25", "6.25"],
    ["claude-opus-4-5 claude-opus-4-5-20251101", "5", "0.5", "25", "6.25"],
    ["claude-opus-4-20250514", "15", "1.5", "75", "18.75"],
    ["claude-sonnet-5-5", "2", "0.1", "10", "2.5"],
    ["claude-sonnet-5", "2", "0.2", "10", "2.5"],
    ["claude-sonnet-4-6 claude-sonnet-4-20250514", "3", "0.3", "15", "3.75"],
    ["claude-sonnet-4-5 claude-sonnet-4-5-20250929", "3", "0.3", "15", "3.75", 200_000],
    ["claude-haiku-5-5", "0.1", "0.01", "0.5", "0.125", 100_000],
    ["claude-haiku-4-5 claude-haiku-4-5-20251001", "1", "0.1", "5", "1.25"],
  ],
  openai: [
    ["gpt-6.1-sol", "2", "0.1", "10", "2.5", 272_000],
    ["gpt-6.1-terra", "1", "0.05", "5", "1.25", 272_000],
    ["gpt-6-sol", "2", "0.2", "10", "2.5", 272_000],
    ["gpt-6-luna", "0.1", "0.01", "0.5", "0.125", 272_000],
    ["gpt-5.6-sol", "4", "0.4", "20", "5", 271_999],
    ["gpt-5.6-terra", "2", "0.2", "12", "2.5", 271_999],
    ["gpt-5.6-luna", "0.2", "0.02", "1.2", "0.25", 271_999],
    ["gpt-5.5", "5", "0.5", "30", null, 271_999],
    ["gpt-5.5-pro", "30", null, "180", null, 271_999],
    ["gpt-5.4", "2.5", "0.25", "15", null, 271_999],
    ["gpt-5.4-mini gpt-5.4-mini-2026-03-17", "0.75", "0.075", "4.5"],
    ["gpt-5.4-nano gpt-5.4-nano-2026-03-17", "0.2", "0.02", "1.25"],
    ["gpt-5.2 gpt-5.2-2025-12-11 gpt-5.2-chat-latest", "1.75", "0.175", "14"],
    ["gpt-5.2-pro gpt-5.2-pro-2025-12-11", "21", null, "168"],
    ["gpt-5.1 gpt-5.1-2025-11-13 gpt-5.1-chat-latest gpt-5.1-codex", "1.25", "0.125", "10"],
    ["gpt-5 gpt-5-2025-08-07 gpt-5-chat-latest gpt-5-codex", "1.25", "0.125", "10"],
    ["gpt-5-mini gpt-5-mini-2025-08-07", "0.25", "0.025", "2"],
    ["gpt-5-nano gpt-5-nano-2025-08-07", "0.05", "0.005", "0.4"],
    ["gpt-5-pro gpt-5-pro-2025-10-06", "15", null, "120"],
    ["gpt-4.1 gpt-4.1-2025-04-14", "2", "0.5", "8"],
    ["gpt-4.1-mini gpt-4.1-mini-2025-04-14", "0.4", "0.1", "1.6"],
    ["gpt-4.1-nano gpt-4.1-nano-2025-04-14", "0.1", "0.025", "0.4"],
    ["gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20", "2.5", "1.25", "10"],
    ["gpt-4o-mini gpt-4o-mini-2024-07-18", "0.15", "0.075", "0.6"],
    ["o1 o1-2024-12-17", "15", "7.5", "60"],
    ["o1-pro o1-pro-2025-03-19", "150", null, "600"],
    ["o3 o3-2025-04-16", "2", "0.5", "8"],
    ["o3-mini o3-mini-2025-01-31", "1.1", "0.55", "4.4"],
    ["o3-pro o3-pro-2025-06-10", "20", null, "80"],
    ["o4-mini o4-mini-2025-04-16", "1.1", "0.275", "4.4"],
    ["gpt-4-turbo gpt-4-turbo-2024-04-09", "10", null, "30"],
    ["gpt-4 gpt-4-0613", "30", null, "60"],
    ["gpt-3.5-turbo gpt-3.5-turbo-0125", "0.5", null, "1.5"],
  ],
  google: [
    ["gemini-2.5-flash", "0.3", "0.03", "2.5"],
    ["gemini-2.5-flash-lite", "0.1", "0.01", "0.4"],
    ["gemini-2.5-pro", "1.25", "0.125", "10", null, 200_000],
    ["gemini-3-flash-preview", "0.5", "0.05", "3"],
    ["gemini-3-pro-preview gemini-3.1-pro-preview", "2", "0.2", "12", null, 200_000],
    ["gemini-3.1-flash-lite", "0.25", "0.025", "1.5"],
    ["gemini-3.5-flash", "1.5", "0.15", "9"],
    ["gemini-3.5-flash-lite", "0.3", "0.03", "2.5"],
    ["gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash", "0.75", "0.075", "3.75"],
  ],
  deepseek: [
    ["deepseek-flash deepseek-v4-flash deepseek-chat deepseek-reasoner", "0.3", "0.006", "1.2"],
    ["deepseek-v4-pro", "1.32", "0.044", "3.96"],
  ],
};

const prices: ReadonlyMap<string, Price> = new Map(
  Object.entries(table).flatMap(([provider, rows]) =>
    rows.flatMap(([names, input, cached, output, cacheWrite, upTo]) =>
      names
        .split(" ")
        .map((name): [string, Price] => [
          `${provider}/${name}`,
          { input, cached, output, cacheWrite: cacheWrite ?? null, upToInputTokens: upTo ?? null, date: priceDate },
        ]),
    ),
  ),
);

/** A model to price. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  /** Its name in the sweep, where a price of the spec may go by it. */
  readonly alias?: string;
  /** In a batch all costs half, by every vendor's list. `auto` has two prices: this is the batch's. Live unless told. */
  readonly mode?: "live" | "batch" | "auto";
}

/**
 * A spec's own prices over the table, in US dollars for a million tokens with up to six decimals; by `provider/model`, or
 * by alias, which goes first. `cached` absent: a cached token costs what any input does.
 */
export type PriceOverrides = Readonly<
  Record<string, { readonly input: number; readonly output: number; readonly cached?: number }>
>;

/**
 * A model's price in its mode; null where none is known: that is not zero. A server of one's own has only an override's
 * price.
 */
export function findPrice(model: PricedModel, overrides: PriceOverrides = {}): Price | null {
  const price = findLivePrice(model, overrides);
  return price === null || (model.mode ?? "live") === "live" ? price : halved(price);
}

/**
 * The tariff of batches. SOURCE: platform.claude.com/docs "Batch processing" (50 % of the standard prices, caching stacks),
 * developers.openai.com "Batch" and ai.google.dev "Batch API" (50 %); the SDKs of this day name the same interfaces.
 */
function halved(price: Price): Price {
  const half = (decimal: string | null): string | null => (decimal === null ? null : halfOf(decimal));
  const { input, cached, cacheWrite, output } = price;
  return { ...price, input: halfOf(input), cached: half(cached), cacheWrite: half(cacheWrite), output: halfOf(output) };
}

/** Half of a decimal of up to six places, rounded up at the sixth. */
function halfOf(decimal: string): string {
  const [whole = "0", fraction = ""] = decimal.split(".");
  const millionths = BigInt(whole + fraction.padEnd(6, "0"));
  const digits = ((millionths + 1n) / 2n).toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}

function findLivePrice(model: PricedModel, overrides: PriceOverrides): Price | null {
  const name = `${model.provider}/${model.model}`;
  const own = [model.alias, name].find((key) => key !== undefined && Object.hasOwn(overrides, key));
  const override = own === undefined ? undefined : overrides[own];
  if (override !== undefined) {
    const cached = override.cached === undefined ? null : decimalOf(override.cached);
    const [input, output] = [decimalOf(override.input), decimalOf(override.output)];
    return { input, cached, cacheWrite: null, output, upToInputTokens: null, date: null };
  }
  if (model.provider === "sim") {
    return { input: "0", cached: null, cacheWrite: null, output: "0", upToInputTokens: null, date: priceDate };
  }
  return model.baseUrl === null ? (prices.get(name) ?? null) : null;
}

/**
 * What an exchange cost, exactly; null where the price or a count is unknown. Reasoning is a part of the output, cached
 * and written tokens are parts of the input.
 */
export function costOf(
  model: PricedModel,
  usage: Usage & { readonly cacheWriteTokens?: number | null },
  overrides: PriceOverrides = {},
): Cost | null {
  const price = findPrice(model, overrides);
  const { inputTokens, outputTokens } = usage;
  if (price === null || inputTokens === null || outputTokens === null) return null;
  if (price.upToInputTokens !== null && inputTokens > price.upToInputTokens) return null;
  const cached = Math.min(usage.cachedTokens ?? 0, inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached);
  const sum =
    picoDollars(inputTokens - cached - written, price.input) +
    picoDollars(cached, price.cached ?? price.input) +
    picoDollars(written, price.cacheWrite ?? price.input) +
    picoDollars(outputTokens, price.output);
  return { usd: usdOf(sum), priceDate: price.date };
}

/**
 * The most that a request can cost, exactly: all input at the dearest input price, all output that it may have. Null where
 * no price is known, or where the input is larger than the price is for.
 */
export function costBound(
  model: PricedModel,
  most: { readonly inputTokens: number; readonly outputTokens: number },
  overrides: PriceOverrides = {},
): string | null {
  const price = findPrice(model, overrides);
  if (price === null) return null;
  if (price.upToInputTokens !== null && most.inputTokens > price.upToInputTokens) return null;
  const { inputTokens, outputTokens } = most;
  const inputs = [price.input, price.cacheWrite, price.cached].flatMap((each) =>
    each === null ? [] : [picoDollars(inputTokens, each)],
  );
  const dearest = inputs.reduce((highest, each) => (each > highest ? each : highest), 0n);
  return usdOf(dearest + picoDollars(outputTokens, price.output));
}

/** A model whose price is not known, and how a spec can name it. */
export interface MissingPrice {
  /** The key to set in `prices`. */
  readonly key: string;
  readonly message: string;
}

/** The models of a spec without a price, each once. A budget cannot be held over them. */
export function missingPrices(spec: {
  readonly models: readonly PricedModel[];
  readonly prices: PriceOverrides;
}): readonly MissingPrice[] {
  const unpriced = spec.models.filter((model) => findPrice(model, spec.prices) === null);
  const keys = [...new Set(unpriced.map(({ provider, model }) => `${provider}/${model}`))];
  return keys.map((key) => ({
    key,
    message:
      `the price of ${key} is not known: set it in the spec, in US dollars for a million tokens, for example ` +
      `prices: { ${JSON.stringify(key)}: { input: 0.5, output: 1.5 } }`,
  }));
}

/** The exact decimal that a number of a spec stands for. */
function decimalOf(usdPerMillion: number): string {
  const decimal = usdPerMillion.toFixed(6);
  // toFixed turns to exponents at 1e21, and rounds what has more places: neither is a price that the spec allows.
  if (!/^\d+\.\d{6}$/.test(decimal) || Number(decimal) !== usdPerMillion) {
    throw new RangeError(`price ${usdPerMillion} is no decimal of up to 6 places`);
  }
  return decimal.replace(/\.?0+$/, "");
}
