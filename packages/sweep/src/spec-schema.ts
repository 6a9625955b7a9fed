import { z } from "zod";

/** Providers that a spec may name. */
export const PROVIDERS = ["anthropic", "openai", "google", "deepseek", "sim"] as const;

/** The default token limit of the seed's command line. SOURCE: seed section 12. */
export const DEFAULT_MAX_TOKENS = 2500;

const model = z
  .string()
  .min(1)
  .max(300)
  .describe("provider/model, such as sim/dfs-honest; the model's own name may hold slashes and colons");
const size = z.int().min(3).max(101);
const group = z.enum(["A", "B", "C"]);
const language = z.enum(["ko", "en"]);
const seed = z.union([z.int().min(0), z.string().regex(/^(?:published30|\d{1,16}\.\.\d{1,16})$/)]);
const tokens = z.int().min(1).max(10_000_000);
const maxTokens = z
  .union([
    tokens,
    z.strictObject({
      perSize: z.record(z.string().regex(/^(?:[3-9]|[1-9]\d|10[01])$/), tokens),
      default: tokens.exactOptional(),
    }),
  ])
  .describe("Most tokens of a reply, or { perSize: { 5: 2500, 7: 4000 }, default: 2500 }");
const temperature = z.number().min(0).max(2).nullable();
const environmentName = z.string().regex(/^[A-Z_][A-Z0-9_]{0,99}$/);
const mode = z
  .enum(["live", "batch", "auto"])
  .describe("live: at once; batch: at half the price within a day; auto: batch, and live what would miss the deadline");
const deadline = z
  .union([z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/), z.iso.datetime({ offset: true })])
  .describe(
    'When mode auto wants all answers: "08:00" of the submitter\'s clock (the next such moment), or a date and time with its zone',
  );
const flags = z.union([z.boolean(), z.array(z.boolean()).min(1).max(100)]);
const perMinute = z.int().min(1).max(1_000_000_000);

const modelObject = z.strictObject({
  model,
  as: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._:/@+-]{0,119}$/u)
    .exactOptional()
    .describe("Its name in this sweep"),
  temperature: temperature.exactOptional(),
  baseUrl: z
    .string()
    .max(500)
    .regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/)
    .exactOptional()
    .describe("An OpenAI-compatible server, without user, query or fragment"),
  keyEnv: environmentName.exactOptional().describe("The environment variable that holds the key for baseUrl"),
  params: z
    .record(z.string().min(1).max(100), z.union([z.number(), z.string().max(1000), z.boolean()]))
    .exactOptional(),
  maxTokens: maxTokens.exactOptional(),
  mode: mode.exactOptional(),
  deadline: deadline.exactOptional(),
  lane: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$/)
    .exactOptional()
    .describe("Models that name the same lane share its limits"),
});

const limits = z.strictObject({
  rpm: perMinute.exactOptional(),
  inputTpm: perMinute.exactOptional(),
  outputTpm: perMinute.exactOptional(),
  tpm: perMinute.exactOptional(),
  concurrency: z.int().min(1).max(100_000).exactOptional(),
});

const ariadne = z.strictObject({
  hints: z.int().min(1).max(10).exactOptional().describe("Most hints a trial of group B or C gets"),
  shadow: z.boolean().exactOptional().describe("A neutral turn for triggered trials of group A, where B is run too"),
});

/** Up to six decimals, as prices are kept exactly. */
const usdPerMillionTokens = z.number().min(0).max(1_000_000).multipleOf(0.000_001);

const price = z.strictObject({
  input: usdPerMillionTokens,
  output: usdPerMillionTokens,
  cached: usdPerMillionTokens.exactOptional(),
});

const judgeModel = z.strictObject({
  model,
  baseUrl: modelObject.shape.baseUrl,
  keyEnv: modelObject.shape.keyEnv,
  temperature: modelObject.shape.temperature,
  params: modelObject.shape.params,
  maxTokens: tokens.exactOptional(),
  mode: z.enum(["live", "batch"]).exactOptional().describe("As the sweep's, unless told; auto is live for judges"),
});

const judge = z.strictObject({
  models: z
    .array(z.union([model, judgeModel]))
    .min(1)
    .max(10),
  share: z.number().min(0).max(1).exactOptional(),
  consensusBelow: z.number().min(0).max(1).exactOptional(),
  repeats: z.int().min(1).max(100).exactOptional(),
});

const exclude = z.strictObject({
  model: oneOrMore(z.string().max(300)),
  size: oneOrMore(size),
  group: oneOrMore(group),
  mirage: oneOrMore(z.boolean()),
  language: oneOrMore(language),
  confidence: oneOrMore(z.boolean()),
  seed: oneOrMore(seed),
});

/** The spec file as people write it. Strict: an unknown key fails. */
export const specSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,79}$/u)
    .describe("The sweep's name: the same name goes on with the same sweep"),
  models: z
    .array(z.union([model, modelObject]))
    .min(1)
    .max(1000),
  seeds: z.array(seed).min(1).describe('Numbers, inclusive ranges "2000..2029", published30'),
  sizes: z.array(size).min(1).max(1000).describe("Rows (and columns) of a maze: 3 to 101"),
  groups: z.array(group).min(1).max(100).exactOptional(),
  mirage: flags.exactOptional(),
  confidence: flags.exactOptional(),
  languages: z.array(language).min(1).max(100).exactOptional(),
  generator: z.enum(["dfs", "kruskal", "wilson", "prim"]).exactOptional(),
  placement: z.enum(["path-order", "sampled"]).exactOptional(),
  repeats: z.int().min(1).max(1000).exactOptional(),
  maxTokens: maxTokens.exactOptional(),
  temperature: temperature.exactOptional(),
  mode: mode.exactOptional(),
  deadline: deadline.exactOptional(),
  judge: judge.exactOptional(),
  limits: z.record(z.string().max(300), limits).exactOptional(),
  ariadne: ariadne.exactOptional(),
  prices: z
    .record(z.string().max(300), price)
    .exactOptional()
    .describe("US dollars for a million tokens by provider/model or name, over the shipped table"),
  budgetUsd: z.number().positive().max(1_000_000_000).exactOptional(),
  priority: z.int().min(-10).max(10).exactOptional().describe("Sweeps of a higher priority run first; 0 unless told"),
  weight: z
    .number()
    .min(0.01)
    .max(100)
    .exactOptional()
    .describe("Share of a lane while several sweeps of one priority have work in it; 1 unless told"),
  retries: z
    .strictObject({ tries: z.int().min(1).max(100).exactOptional(), empty: z.int().min(0).max(100).exactOptional() })
    .exactOptional(),
  exclude: z.array(exclude).max(100).exactOptional(),
});

/** A spec as written, before defaults. */
export type SpecInput = z.input<typeof specSchema>;

/** The keys that an object of the spec may have, by the object's place; for suggestions. */
export function knownKeys(path: readonly (string | number)[]): readonly string[] {
  const [first, , third] = path;
  if (path.length === 0) return Object.keys(specSchema.shape);
  if (first === "models" && path.length === 2) return Object.keys(modelObject.shape);
  if (first === "limits" && path.length === 2) return Object.keys(limits.shape);
  if (first === "prices" && path.length === 2) return Object.keys(price.shape);
  if (first === "ariadne" && path.length === 1) return Object.keys(ariadne.shape);
  if (first === "exclude" && path.length === 2) return Object.keys(exclude.shape);
  if (first === "judge" && path.length === 3) return Object.keys(judgeModel.shape);
  if (first === "judge" && path.length === 1) return Object.keys(judge.shape);
  if (first === "retries" && path.length === 1) return ["tries", "empty"];
  const ofTokens = first === "maxTokens" ? path.length === 1 : third === "maxTokens" && path.length === 3;
  return ofTokens ? ["perSize", "default"] : [];
}

/** The JSON Schema (2020-12) of a spec file, for editors. */
export function specJsonSchema(): Record<string, unknown> {
  return { title: "HalluMaze sweep", ...z.toJSONSchema(specSchema, { io: "input" }) };
}

function oneOrMore<Value extends z.ZodType>(value: Value) {
  return z.union([value, z.array(value).min(1).max(1000)]).exactOptional();
}
