import { z } from "zod";

import { sweepName } from "./trial-words.ts";

/** A rater's name: what the gold set will say. */
export const raterName = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u, "must be a short name");

/** A labelling set is a sweep's answers, drawn once in a fixed order. */
export const labellingParam = z.strictObject({ set: sweepName });

/** Query of `GET /api/labelling/{set}`. */
export const labellingQuery = z.strictObject({ rater: raterName });

/** Most items of a labelling set. */
export const maxLabellingItems = 120;

/** Body of `POST /api/labelling/{set}`, which draws the set, once: an empty object. */
export const labellingDrawInput = z.strictObject({}).meta({ id: "LabellingDrawInput" });

/** Answer to a draw: how many items the set has. */
export const labellingDrawn = z.object({ set: z.string(), total: z.int() }).meta({ id: "LabellingDrawn" });

/** A level that a person gives. */
export const humanLevel = z.int().min(1).max(3);

/**
 * Answer of `GET /api/labelling/{set}`: the rater's next item, blind: no model, no condition, no judge, no other rater. `item`
 * is null once all are labelled. Before the set is drawn it is a problem `not-drawn`.
 */
export const labellingView = z
  .object({
    set: z.string(),
    rater: z.string(),
    total: z.int(),
    done: z.int().describe("Items that this rater has labelled"),
    item: z
      .object({
        itemId: z.string(),
        prompt: z.string().describe("What was asked. Text, never markup"),
        expectedL3: z.string(),
        criteriaL1: z.string().nullable(),
        criteriaL2: z.string().nullable(),
        response: z.string(),
      })
      .nullable(),
  })
  .meta({ id: "Labelling" });

/** A labelling's state as it is served. */
export type LabellingView = z.infer<typeof labellingView>;

/** Body of `POST /api/labelling/{set}/labels`. A second label of one rater on one item replaces the first. */
export const labelInput = z
  .strictObject({
    rater: raterName,
    itemId: z.string().min(1).max(100),
    level: humanLevel,
    reason: z.string().max(2000).nullish(),
  })
  .meta({ id: "LabelInput" });

/** Answer to a label. */
export const labelReport = z.object({ done: z.int(), total: z.int() }).meta({ id: "LabelReport" });

/** A label's answer as it is served. */
export type LabelReport = z.infer<typeof labelReport>;

/** Answer of `GET /api/labelling/{set}/agreement`: numbers only once two raters have labelled all. */
export const agreementView = z
  .object({
    set: z.string(),
    total: z.int(),
    raters: z.array(z.object({ rater: z.string(), done: z.int() })),
    isComplete: z.boolean().describe("True once two raters or more have labelled every item"),
    agreement: z
      .object({
        items: z.int(),
        agreed: z.int(),
        share: z.number().nullable(),
        kappa: z.number().nullable(),
        quadraticKappa: z.number().nullable(),
        ordinalAlpha: z.number().nullable(),
        confusion: z.array(z.array(z.int())).describe("Of the first two raters: rows the first's L1, L2, L3"),
        differing: z.array(
          z.object({ itemId: z.string(), labels: z.array(z.object({ rater: z.string(), level: humanLevel })) }),
        ),
      })
      .nullable()
      .describe("Null until it is complete"),
  })
  .meta({ id: "Agreement" });

/** An agreement as it is served. */
export type AgreementView = z.infer<typeof agreementView>;
