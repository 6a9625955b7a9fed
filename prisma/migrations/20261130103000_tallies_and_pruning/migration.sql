-- Reason: counts of a sweep of a million trials are kept as they change, not counted at each look; what is large of an old
-- exchange may go, with its hash kept.

-- AlterTable
ALTER TABLE "exchanges" ADD COLUMN     "pruned_at" TIMESTAMPTZ(3),
ADD COLUMN     "reasoning_sha256" TEXT,
ADD COLUMN     "request_sha256" TEXT,
ADD COLUMN     "text_sha256" TEXT,
ALTER COLUMN "request_json" DROP NOT NULL;

-- AlterTable
ALTER TABLE "judgements" ADD COLUMN     "pruned_at" TIMESTAMPTZ(3),
ADD COLUMN     "raw_sha256" TEXT,
ADD COLUMN     "request_sha256" TEXT;

-- CreateTable
CREATE TABLE "trial_tallies" (
    "sweep_id" UUID NOT NULL,
    "alias" TEXT COLLATE "C" NOT NULL,
    "lane" TEXT NOT NULL,
    "state" "trial_state" NOT NULL,
    "outcome" TEXT NOT NULL,
    "in_grid" BOOLEAN NOT NULL,
    "reused" BOOLEAN NOT NULL,
    "slot" SMALLINT NOT NULL,
    "trials" BIGINT NOT NULL,

    CONSTRAINT "trial_tallies_pkey" PRIMARY KEY ("sweep_id","alias","lane","state","outcome","in_grid","reused","slot")
);

-- CreateTable
CREATE TABLE "exchange_tallies" (
    "sweep_id" UUID NOT NULL,
    "alias" TEXT COLLATE "C" NOT NULL,
    "lane" TEXT NOT NULL,
    "slot" SMALLINT NOT NULL,
    "requests" BIGINT NOT NULL,
    "follow_ups" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "late" BIGINT NOT NULL,
    "limiter_ms" BIGINT NOT NULL,
    "cost_unknown" BIGINT NOT NULL,
    "cost_known" BIGINT NOT NULL,
    "cost_usd" DECIMAL(24,12) NOT NULL,

    CONSTRAINT "exchange_tallies_pkey" PRIMARY KEY ("sweep_id","alias","lane","slot")
);

-- CreateTable
CREATE TABLE "judge_tallies" (
    "sweep_id" UUID NOT NULL,
    "lane" TEXT NOT NULL,
    "state" "trial_state" NOT NULL,
    "outcome" TEXT NOT NULL,
    "slot" SMALLINT NOT NULL,
    "requests" BIGINT NOT NULL,

    CONSTRAINT "judge_tallies_pkey" PRIMARY KEY ("sweep_id","lane","state","outcome","slot")
);

-- A tally row is rewritten with every batch: room on its page keeps that from touching the index.
ALTER TABLE "trial_tallies" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE "exchange_tallies" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE "judge_tallies" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- CreateIndex
CREATE INDEX "trials_failures_idx" ON "trials"("sweep_id", "alias", "outcome", "finished_at", "id") WHERE (state = ANY (ARRAY['failed'::trial_state, 'blocked'::trial_state]));

-- CreateIndex
CREATE INDEX "trials_finished_idx" ON "trials"("sweep_id", "finished_at") WHERE (state = ANY (ARRAY['done'::trial_state, 'failed'::trial_state]));

-- CreateIndex
CREATE INDEX "trials_blocked_idx" ON "trials"("lane", "ordinal", "id") WHERE (state = 'blocked'::trial_state);

-- CreateIndex
CREATE INDEX "trials_source_idx" ON "trials"("source_trial_id") WHERE (source_trial_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "judge_requests_failures_idx" ON "judge_requests"("sweep_id", "outcome", "created_at", "id") WHERE (state = ANY (ARRAY['failed'::trial_state, 'blocked'::trial_state]));

-- A slot a connection, so that workers do not wait for one another; a count is the sum over its slots.
CREATE FUNCTION "hallumaze_tally_slot"() RETURNS smallint LANGUAGE sql VOLATILE
AS $$ SELECT (pg_backend_pid() % 32)::smallint $$;

CREATE FUNCTION "hallumaze_tally_trials"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO trial_tallies AS k (sweep_id, alias, lane, state, outcome, in_grid, reused, slot, trials)
    SELECT c.sweep_id, c.alias, c.lane, c.state, c.outcome, c.in_grid, c.reused, hallumaze_tally_slot(), sum(c.n)
    FROM (
      SELECT sweep_id, alias, lane, state, coalesce(outcome, '') AS outcome, in_grid, source_trial_id IS NOT NULL AS reused, 1 AS n FROM new_rows
      UNION ALL
      SELECT sweep_id, alias, lane, state, coalesce(outcome, ''), in_grid, source_trial_id IS NOT NULL, -1 FROM old_rows
    ) c
    GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(c.n) <> 0 ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (sweep_id, alias, lane, state, outcome, in_grid, reused, slot) DO UPDATE SET trials = k.trials + excluded.trials;
    -- What a trial has asked is counted under its alias and lane: a spec that renames them takes it along.
    INSERT INTO exchange_tallies AS k (sweep_id, alias, lane, slot, requests, follow_ups, failed, late, limiter_ms,
      cost_unknown, cost_known, cost_usd)
    SELECT c.sweep_id, c.alias, c.lane, hallumaze_tally_slot(), sum(c.n), coalesce(sum(c.n) FILTER (WHERE e.turn > 0), 0),
      coalesce(sum(c.n) FILTER (WHERE e.outcome IS NOT NULL), 0), coalesce(sum(c.n) FILTER (WHERE e.late_duplicate), 0),
      coalesce(sum(c.n * e.limiter_ms), 0),
      coalesce(sum(c.n) FILTER (WHERE e.cost_usd IS NULL
        AND (e.text IS NOT NULL OR e.text_sha256 IS NOT NULL OR e.cost_bound_usd IS NOT NULL)), 0),
      coalesce(sum(c.n) FILTER (WHERE e.cost_usd IS NOT NULL), 0), coalesce(sum(c.n * e.cost_usd), 0)
    FROM (
      SELECT n.id, side.* FROM new_rows n JOIN old_rows o ON o.id = n.id
      CROSS JOIN LATERAL (VALUES (n.sweep_id, n.alias, n.lane, 1), (o.sweep_id, o.alias, o.lane, -1)) AS side(sweep_id, alias, lane, n)
      WHERE (n.alias, n.lane) IS DISTINCT FROM (o.alias, o.lane)
    ) c JOIN exchanges e ON e.trial_id = c.id
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (sweep_id, alias, lane, slot) DO UPDATE SET requests = k.requests + excluded.requests,
      follow_ups = k.follow_ups + excluded.follow_ups, failed = k.failed + excluded.failed, late = k.late + excluded.late,
      limiter_ms = k.limiter_ms + excluded.limiter_ms, cost_unknown = k.cost_unknown + excluded.cost_unknown,
      cost_known = k.cost_known + excluded.cost_known, cost_usd = k.cost_usd + excluded.cost_usd;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO trial_tallies AS k (sweep_id, alias, lane, state, outcome, in_grid, reused, slot, trials)
    SELECT sweep_id, alias, lane, state, coalesce(outcome, ''), in_grid, source_trial_id IS NOT NULL, hallumaze_tally_slot(), count(*)
    FROM new_rows GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (sweep_id, alias, lane, state, outcome, in_grid, reused, slot) DO UPDATE SET trials = k.trials + excluded.trials;
  ELSE
    INSERT INTO trial_tallies AS k (sweep_id, alias, lane, state, outcome, in_grid, reused, slot, trials)
    SELECT sweep_id, alias, lane, state, coalesce(outcome, ''), in_grid, source_trial_id IS NOT NULL, hallumaze_tally_slot(), -count(*)
    FROM old_rows GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (sweep_id, alias, lane, state, outcome, in_grid, reused, slot) DO UPDATE SET trials = k.trials + excluded.trials;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION "hallumaze_tally_exchanges"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO exchange_tallies AS k (sweep_id, alias, lane, slot, requests, follow_ups, failed, late, limiter_ms,
    cost_unknown, cost_known, cost_usd)
  SELECT t.sweep_id, t.alias, t.lane, hallumaze_tally_slot(), count(*), count(*) FILTER (WHERE e.turn > 0),
    count(*) FILTER (WHERE e.outcome IS NOT NULL), count(*) FILTER (WHERE e.late_duplicate), coalesce(sum(e.limiter_ms), 0),
    count(*) FILTER (WHERE e.cost_usd IS NULL AND (e.text IS NOT NULL OR e.text_sha256 IS NOT NULL OR e.cost_bound_usd IS NOT NULL)),
    count(e.cost_usd), coalesce(sum(e.cost_usd), 0)
  FROM new_rows e JOIN trials t ON t.id = e.trial_id
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (sweep_id, alias, lane, slot) DO UPDATE SET requests = k.requests + excluded.requests,
    follow_ups = k.follow_ups + excluded.follow_ups, failed = k.failed + excluded.failed, late = k.late + excluded.late,
    limiter_ms = k.limiter_ms + excluded.limiter_ms, cost_unknown = k.cost_unknown + excluded.cost_unknown,
    cost_known = k.cost_known + excluded.cost_known, cost_usd = k.cost_usd + excluded.cost_usd;
  RETURN NULL;
END $$;

CREATE FUNCTION "hallumaze_tally_judges"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO judge_tallies AS k (sweep_id, lane, state, outcome, slot, requests)
    SELECT c.sweep_id, c.lane, c.state, c.outcome, hallumaze_tally_slot(), sum(c.n)
    FROM (
      SELECT sweep_id, lane, state, coalesce(outcome, '') AS outcome, 1 AS n FROM new_rows WHERE sweep_id IS NOT NULL
      UNION ALL
      SELECT sweep_id, lane, state, coalesce(outcome, ''), -1 FROM old_rows WHERE sweep_id IS NOT NULL
    ) c
    GROUP BY 1, 2, 3, 4 HAVING sum(c.n) <> 0 ORDER BY 1, 2, 3, 4
    ON CONFLICT (sweep_id, lane, state, outcome, slot) DO UPDATE SET requests = k.requests + excluded.requests;
  ELSE
    INSERT INTO judge_tallies AS k (sweep_id, lane, state, outcome, slot, requests)
    SELECT sweep_id, lane, state, coalesce(outcome, ''), hallumaze_tally_slot(), count(*)
    FROM new_rows WHERE sweep_id IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (sweep_id, lane, state, outcome, slot) DO UPDATE SET requests = k.requests + excluded.requests;
  END IF;
  RETURN NULL;
END $$;

-- Their locks hold writers off until the counts below are in.
CREATE TRIGGER "tally_inserted" AFTER INSERT ON "trials" REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION hallumaze_tally_trials();
CREATE TRIGGER "tally_updated" AFTER UPDATE ON "trials" REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION hallumaze_tally_trials();
CREATE TRIGGER "tally_deleted" AFTER DELETE ON "trials" REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION hallumaze_tally_trials();
CREATE TRIGGER "tally_inserted" AFTER INSERT ON "exchanges" REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION hallumaze_tally_exchanges();
CREATE TRIGGER "tally_inserted" AFTER INSERT ON "judge_requests" REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION hallumaze_tally_judges();
CREATE TRIGGER "tally_updated" AFTER UPDATE ON "judge_requests" REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION hallumaze_tally_judges();

-- Counts everything anew. A writer's change is wholly before the locks and counted, or wholly after and added.
CREATE FUNCTION "hallumaze_recount"() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE trial_tallies, exchange_tallies, judge_tallies IN EXCLUSIVE MODE;
  DELETE FROM trial_tallies;
  DELETE FROM exchange_tallies;
  DELETE FROM judge_tallies;
  INSERT INTO trial_tallies (sweep_id, alias, lane, state, outcome, in_grid, reused, slot, trials)
  SELECT sweep_id, alias, lane, state, coalesce(outcome, ''), in_grid, source_trial_id IS NOT NULL, 0, count(*)
  FROM trials GROUP BY 1, 2, 3, 4, 5, 6, 7;
  INSERT INTO exchange_tallies (sweep_id, alias, lane, slot, requests, follow_ups, failed, late, limiter_ms,
    cost_unknown, cost_known, cost_usd)
  SELECT t.sweep_id, t.alias, t.lane, 0, count(*), count(*) FILTER (WHERE e.turn > 0),
    count(*) FILTER (WHERE e.outcome IS NOT NULL), count(*) FILTER (WHERE e.late_duplicate), coalesce(sum(e.limiter_ms), 0),
    count(*) FILTER (WHERE e.cost_usd IS NULL AND (e.text IS NOT NULL OR e.text_sha256 IS NOT NULL OR e.cost_bound_usd IS NOT NULL)),
    count(e.cost_usd), coalesce(sum(e.cost_usd), 0)
  FROM exchanges e JOIN trials t ON t.id = e.trial_id GROUP BY 1, 2, 3;
  INSERT INTO judge_tallies (sweep_id, lane, state, outcome, slot, requests)
  SELECT sweep_id, lane, state, coalesce(outcome, ''), 0, count(*)
  FROM judge_requests WHERE sweep_id IS NOT NULL GROUP BY 1, 2, 3, 4;
END $$;

SELECT hallumaze_recount();
