import { z } from "zod";

/** Most characters of one text that the service takes. */
export const maxTextLength = 1_000_000;

const text = z.string().max(maxTextLength);
const said = text.refine((value) => value.trim() !== "", "must not be blank");
const share = z.number().min(0).max(1);

/** L1 surface, L2 applied mechanically, L3 the principle rebuilt in a new context. */
export const levelName = z.enum(["L1", "L2", "L3"]);

/** A level as it is served. */
export type LevelName = z.infer<typeof levelName>;

/** Body of `POST /api/benchmark/scenarios`. */
export const scenarioInput = z
  .strictObject({
    prompt: said,
    expected_l3: said.describe("What a response of level 3 does"),
    criteria_l1: said.nullish(),
    criteria_l2: said.nullish(),
  })
  .meta({ id: "ScenarioInput" });

/** A scenario as it is kept. */
export const scenarioView = z
  .object({
    scenario_id: z.string(),
    prompt: text,
    expected_l3: text,
    criteria_l1: text.nullable(),
    criteria_l2: text.nullable(),
  })
  .meta({ id: "Scenario" });

/** A scenario as it is served. */
export type ScenarioView = z.infer<typeof scenarioView>;

/** Body of `POST /api/benchmark/results`. */
export const resultInput = z
  .strictObject({
    scenario_id: z.string().max(100),
    response: text.describe("May be empty: an empty answer is an answer"),
    submitter: z.string().min(1).max(300).nullish().describe("Never shown to a judge"),
  })
  .meta({ id: "ResultInput" });

/** Answer to a new result. */
export const resultCreated = z
  .object({ result_id: z.string(), poll: z.string().describe("Path at which the result is read") })
  .meta({ id: "ResultCreated" });

const evidence = z.array(z.object({ quote: z.string(), claim: z.string() }));

const verdictFields = {
  level: levelName.nullable().describe("Null: see unscored_reason"),
  unscored_reason: z.string().nullable(),
  reasoning: z.string().nullable(),
  counter_argument: z.string().nullable(),
  confidence: share.nullable(),
  scored_by: z.string().nullable().describe("LLM-JUDGE-v1 or HEURISTIC; null where no judgement is kept"),
  decided_by: z.string().nullable().describe("judge, precheck or heuristic"),
  model: z.string().nullable().describe("The model that served the verdict; null where none was asked"),
  prompt_version: z.string().nullable(),
  prompt_hash: z.string().nullable(),
  rubric_version: z.string().nullable(),
  evidence,
  flags: z.array(z.string()),
  fallback: z.boolean().describe("True where the heuristic bridges an outage of the judge"),
  provisional: z.boolean().describe("True where a judgement under way may change it"),
};

/** The verdict that stands for a result, or a judge's beside it. */
export const verdictView = z
  .object({
    ...verdictFields,
    spread: z.number().nullable().describe("Highest minus lowest level of all opinions"),
    needs_human: z.boolean().describe("True where only a person can settle it"),
  })
  .meta({ id: "Verdict" });

/** A verdict as it is served. */
export type VerdictView = z.infer<typeof verdictView>;

/** Whether the judge's verdicts are the default. */
export const gateView = z
  .object({ open: z.boolean(), refusals: z.array(z.string()), calibrated_at: z.iso.datetime().nullable() })
  .meta({ id: "Gate" });

/** Answer of `POST /api/benchmark/auto-score/{result_id}`. */
export const autoScoreView = z
  .object({
    result_id: z.string(),
    ...verdictView.shape,
    gate: gateView,
    dry_run: z.boolean(),
    default: verdictView.nullable().optional().describe("With dry_run: what stands for the result, unchanged"),
    poll: z.string(),
  })
  .meta({ id: "AutoScore" });

/** An auto-score answer as it is served. */
export type AutoScoreView = z.infer<typeof autoScoreView>;

/** Answer where the verdict is not there by the deadline. */
export const pendingView = z
  .object({ result_id: z.string(), status: z.literal("pending"), poll: z.string() })
  .meta({ id: "Pending" });

/** One judgement with what it came from. */
export const judgementView = z
  .object({
    judgement_id: z.string(),
    created_at: z.iso.datetime(),
    ...verdictFields,
    model_asked: z.string(),
    round: z.enum(["first", "repeat", "second", "third", "dryRun"]),
    repeat: z.int(),
    attempt: z.int(),
    input_hash: z.string(),
    input_tokens: z.int().nullable(),
    output_tokens: z.int().nullable(),
    cost_usd: z.string().nullable().describe("Exact decimal US dollars; null: unknown"),
    latency_ms: z.number().nullable(),
  })
  .meta({ id: "Judgement" });

/** A judgement as it is served. */
export type JudgementView = z.infer<typeof judgementView>;

/** Answer of `GET /api/benchmark/results/{result_id}`. */
export const resultView = z
  .object({
    result_id: z.string(),
    trial_id: z.string().nullable(),
    submitter: z.string().nullable(),
    scenario: scenarioView.nullable(),
    response: z.string().nullable(),
    created_at: z.iso.datetime(),
    default_verdict: verdictView.nullable().describe("Null: nothing stands for it yet"),
    gate: gateView,
    open_requests: z.int().describe("Requests to judges that are not finished"),
    judgements: z.array(judgementView).describe("All of them, oldest first"),
  })
  .meta({ id: "Result" });

/** A result as it is served. */
export type ResultView = z.infer<typeof resultView>;

/** Most results that one mean is asked for by id. */
export const maxFitnessResults = 200;

/** Query of `GET /api/benchmark/fitness`: a sweep's name, or result ids with commas between. */
export const fitnessQuery = z
  .strictObject({
    sweep: z.string().min(1).max(80).optional(),
    result_ids: z
      .string()
      .regex(/^[0-9A-Za-z-]+(?:,[0-9A-Za-z-]+)*$/, "must be ids with commas between")
      .max(maxFitnessResults * 40)
      .optional(),
    same_population: z
      .enum(["true", "false"])
      .optional()
      .describe("Your word that the gold set was drawn from these results: then the prediction-powered mean"),
  })
  .refine(
    (query) => (query.sweep === undefined) !== (query.result_ids === undefined),
    "give either sweep or result_ids",
  )
  .refine(
    (query) => (query.result_ids?.split(",").length ?? 0) <= maxFitnessResults,
    `at most ${maxFitnessResults} results at once`,
  );

/** Answer of `GET /api/benchmark/fitness`. */
export const fitnessView = z
  .object({
    method: z.enum(["confusion-inverted", "prediction-powered"]),
    mean: z.number().describe("1 to 3, better when higher"),
    lo: z.number().nullable(),
    hi: z.number().nullable(),
    judge_mean: z.number().describe("Uncorrected"),
    n: z.int(),
    missing: z.int().describe("Results without a level of the judge"),
    gold_items: z.int(),
    undefined_resamples: z.int(),
    shares: z.array(z.number()).nullable().describe("Corrected shares of L1, L2, L3"),
    clipped: z.boolean(),
    judge: z.string(),
    prompt_version: z.string(),
    rubric_version: z.string(),
  })
  .meta({ id: "Fitness" });

/** A fitness as it is served. */
export type FitnessView = z.infer<typeof fitnessView>;
