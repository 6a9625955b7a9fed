import { z } from "zod";

/** A count out of n with its Clopper–Pearson interval; all null where n is 0. */
const proportion = z.object({
  count: z.int(),
  n: z.int(),
  share: z.number().nullable(),
  lo: z.number().nullable(),
  hi: z.number().nullable(),
});

const judgeIdentity = z.object({
  judgeModel: z.string(),
  promptVersion: z.string(),
  promptHash: z.string(),
  rubricVersion: z.string(),
});

const level = z.int().min(1).max(3);

const coefficient = z.looseObject({ value: z.number().nullable() });

/** One run of a judge on a gold set. */
export const calibrationView = z
  .object({
    calibrationId: z.string(),
    createdAtMs: z.number(),
    judge: judgeIdentity,
    goldSetId: z.string(),
    split: z.string(),
    items: z.int(),
    open: z.boolean().describe("Whether it opens the gate"),
    refusals: z.array(z.string()).describe("Why not, a sentence each"),
    agreement: proportion,
    adjacent: proportion,
    falseL3: proportion,
    unscored: proportion,
    signedBias: z.number().nullable(),
    kappa: coefficient,
    quadraticKappa: coefficient,
    ordinalAlpha: coefficient,
    humanAlpha: coefficient.nullable(),
    confusion: z
      .array(z.object({ human: level, judge: level.nullable(), count: z.int() }))
      .describe("Null: the judge left it unscored"),
    baselines: z.array(z.object({ rule: z.string(), agreed: z.int(), n: z.int() })),
    lookCount: z.int().describe("How often this test split was measured"),
  })
  .meta({ id: "Calibration" });

/** A calibration as it is served. */
export type CalibrationView = z.infer<typeof calibrationView>;

/** Answer of `GET /api/judge/calibrations`: newest first, at most 100. */
export const calibrationList = z.object({ calibrations: z.array(calibrationView) }).meta({ id: "CalibrationList" });

/** The calibrations as they are served. */
export type CalibrationList = z.infer<typeof calibrationList>;

/** Answer of `GET /api/judge/gate`: whether each judge's verdicts are the default, by its newest measured calibration. */
export const gateList = z
  .object({
    service: z.string().nullable().describe("The judge that this service runs with; null: none"),
    gates: z.array(
      z.object({
        judge: judgeIdentity,
        open: z.boolean(),
        refusals: z.array(z.string()),
        calibratedAtMs: z.number().nullable().describe("Null: never on 36 or more held-out items"),
      }),
    ),
  })
  .meta({ id: "GateList" });

/** The gates as they are served. */
export type GateList = z.infer<typeof gateList>;

/** Query of `GET /api/judge/disagreements`. */
export const disagreementsQuery = z.strictObject({
  calibration: z
    .string()
    .regex(/^[0-9a-f-]{36}$/)
    .optional()
    .describe("The newest unless told"),
});

/** Answer of `GET /api/judge/disagreements`: items on which judge and people differ, with their texts. */
export const disagreementList = z
  .object({
    calibrationId: z.string().nullable().describe("Null before the first calibration"),
    disagreements: z.array(
      z.object({
        id: z.string(),
        line: z.int().describe("Of the gold set's file"),
        human: level,
        judge: level.nullable(),
        repeats: z.array(level.nullable()),
        confidence: z.number().nullable(),
        unscoredReason: z.string().nullable(),
        excerpt: z.string().nullable().describe("The beginning of the judge's reasoning"),
        prompt: z.string().nullable().describe("Null where the gold set's text is not in the ledger"),
        expectedL3: z.string().nullable(),
        response: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "DisagreementList" });

/** The disagreements as they are served. */
export type DisagreementList = z.infer<typeof disagreementList>;
