-- Reason: the first tables: sweeps, trials, exchanges, readings and scores; scenarios, results and judgements for the judge.

-- CreateEnum
CREATE TYPE "trial_state" AS ENUM ('planned', 'queued', 'running', 'done', 'failed', 'cancelled', 'blocked');

-- CreateTable
CREATE TABLE "sweeps" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "name" TEXT NOT NULL,
    "spec_json" TEXT NOT NULL,
    "provenance_json" TEXT NOT NULL,
    "max_tries" INTEGER NOT NULL,
    "max_empty_retries" INTEGER NOT NULL,
    "fresh" BOOLEAN NOT NULL,
    "grid_revision" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "submitted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sweeps_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "submissions" (
    "id" BIGSERIAL NOT NULL,
    "sweep_id" UUID NOT NULL,
    "spec_json" TEXT NOT NULL,
    "provenance_json" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "submissions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trials" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "sweep_id" UUID NOT NULL,
    "cell_id" TEXT NOT NULL,
    "alias" TEXT COLLATE "C" NOT NULL,
    "lane" TEXT NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "plan" JSON NOT NULL,
    "model" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "seed" BIGINT NOT NULL,
    "group" TEXT NOT NULL,
    "mirage" BOOLEAN NOT NULL,
    "language" TEXT NOT NULL,
    "confidence" BOOLEAN NOT NULL,
    "repeat" INTEGER NOT NULL,
    "rehearsal" BOOLEAN NOT NULL,
    "grid_revision" INTEGER NOT NULL,
    "in_grid" BOOLEAN NOT NULL DEFAULT true,
    "state" "trial_state" NOT NULL DEFAULT 'planned',
    "outcome" TEXT,
    "message" TEXT,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "empty_retries" INTEGER NOT NULL DEFAULT 0,
    "waits" INTEGER NOT NULL DEFAULT 0,
    "losses" INTEGER NOT NULL DEFAULT 0,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "claimed_by" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "not_before" TIMESTAMPTZ(3),
    "queued_at" TIMESTAMPTZ(3),
    "settled_sequence" BIGINT NOT NULL DEFAULT 0,
    "accepted_exchange_id" UUID,
    "source_trial_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "trials_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "exchanges" (
    "id" UUID NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "trial_id" UUID NOT NULL,
    "fence" INTEGER NOT NULL,
    "turn" INTEGER NOT NULL,
    "try_number" INTEGER NOT NULL,
    "worker_id" TEXT NOT NULL,
    "late_duplicate" BOOLEAN NOT NULL,
    "request_json" TEXT NOT NULL,
    "raw_body" TEXT,
    "raw_sha256" TEXT,
    "text" TEXT,
    "reasoning" TEXT,
    "finish_reason" TEXT,
    "outcome" TEXT,
    "error_message" TEXT,
    "served_model" TEXT,
    "effective_params_json" TEXT NOT NULL,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "reasoning_tokens" INTEGER,
    "cost_usd" DECIMAL(20,10),
    "price_date" DATE,
    "queue_ms" INTEGER,
    "limiter_ms" INTEGER,
    "http_ms" INTEGER NOT NULL,
    "ttft_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "exchanges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "readings" (
    "trial_id" UUID NOT NULL,
    "reader_version" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "reading_json" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "readings_pkey" PRIMARY KEY ("trial_id","reader_version")
);

-- CreateTable
CREATE TABLE "scores" (
    "trial_id" UUID NOT NULL,
    "profile" TEXT NOT NULL,
    "profile_version" TEXT NOT NULL,
    "reader_version" TEXT NOT NULL,
    "sr" SMALLINT NOT NULL,
    "hc" DOUBLE PRECISION NOT NULL,
    "fhr" DOUBLE PRECISION NOT NULL,
    "bt" DOUBLE PRECISION NOT NULL,
    "lt" DOUBLE PRECISION NOT NULL,
    "hrr" DOUBLE PRECISION NOT NULL,
    "mei" DOUBLE PRECISION NOT NULL,
    "ce" DOUBLE PRECISION,
    "brs" DOUBLE PRECISION,
    "score" DOUBLE PRECISION NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "scores_pkey" PRIMARY KEY ("trial_id","profile","profile_version","reader_version")
);

-- CreateTable
CREATE TABLE "scenarios" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "prompt" TEXT NOT NULL,
    "expected_l3" TEXT NOT NULL,
    "criteria_l1" TEXT,
    "criteria_l2" TEXT,
    "content_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "scenarios_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "results" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "scenario_id" UUID NOT NULL,
    "trial_id" UUID,
    "response" TEXT NOT NULL,
    "submitter" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "results_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "judgements" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "result_id" UUID NOT NULL,
    "scored_by" TEXT NOT NULL,
    "decided_by" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "level" SMALLINT,
    "unscored_reason" TEXT,
    "reasoning" TEXT,
    "counter_argument" TEXT,
    "confidence" DOUBLE PRECISION,
    "evidence_json" TEXT NOT NULL,
    "flags_json" TEXT NOT NULL,
    "fallback" BOOLEAN NOT NULL DEFAULT false,
    "provisional" BOOLEAN NOT NULL DEFAULT false,
    "model_asked" TEXT NOT NULL,
    "model_served" TEXT,
    "prompt_version" TEXT NOT NULL,
    "prompt_hash" TEXT NOT NULL,
    "rubric_version" TEXT NOT NULL,
    "params_json" TEXT NOT NULL,
    "input_hash" TEXT NOT NULL,
    "repeat" INTEGER NOT NULL DEFAULT 0,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "request_json" TEXT,
    "raw_body" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cost_usd" DECIMAL(20,10),
    "price_date" DATE,
    "http_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "judgements_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "judge_requests" (
    "id" BIGSERIAL NOT NULL,
    "result_id" UUID NOT NULL,
    "lane" TEXT NOT NULL,
    "request_key" TEXT NOT NULL,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "claimed_by" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "not_before" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "message" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "sent_at" TIMESTAMPTZ(3),
    "done_at" TIMESTAMPTZ(3),

    CONSTRAINT "judge_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "gold_labels" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "gold_set_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "prompt" TEXT NOT NULL,
    "expected_l3" TEXT NOT NULL,
    "response" TEXT NOT NULL,
    "labels_json" TEXT NOT NULL,
    "level" SMALLINT,
    "split" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "gold_labels_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "calibrations" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "gold_set_id" TEXT NOT NULL,
    "split" TEXT NOT NULL,
    "judge_model" TEXT NOT NULL,
    "prompt_version" TEXT NOT NULL,
    "prompt_hash" TEXT NOT NULL,
    "rubric_version" TEXT NOT NULL,
    "items" INTEGER NOT NULL,
    "agreed" INTEGER NOT NULL,
    "open" BOOLEAN NOT NULL,
    "refusals_json" TEXT NOT NULL,
    "report_json" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "calibrations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sweeps_name_key" ON "sweeps"("name");

-- CreateIndex
CREATE INDEX "submissions_sweep_id_id_idx" ON "submissions"("sweep_id", "id");

-- CreateIndex
CREATE INDEX "trials_sweep_id_alias_size_seed_idx" ON "trials"("sweep_id", "alias", "size", "seed");

-- CreateIndex
CREATE INDEX "trials_answered_idx" ON "trials"("cell_id") WHERE (state = 'done'::trial_state);

-- CreateIndex
CREATE INDEX "trials_planned_idx" ON "trials"("sweep_id", "lane", "ordinal", "id") WHERE (state = 'planned'::trial_state);

-- CreateIndex
CREATE INDEX "trials_open_idx" ON "trials"("lane", "ordinal", "id") WHERE (state = ANY (ARRAY['planned'::trial_state, 'queued'::trial_state]));

-- CreateIndex
CREATE INDEX "trials_running_idx" ON "trials"("lease_until") WHERE (state = 'running'::trial_state);

-- CreateIndex
CREATE UNIQUE INDEX "trials_sweep_id_cell_id_key" ON "trials"("sweep_id", "cell_id");

-- CreateIndex
CREATE INDEX "exchanges_trial_id_sequence_idx" ON "exchanges"("trial_id", "sequence");

-- CreateIndex
CREATE INDEX "exchanges_late_idx" ON "exchanges"("trial_id") WHERE (late_duplicate);

-- CreateIndex
CREATE UNIQUE INDEX "scenarios_content_id_key" ON "scenarios"("content_id");

-- CreateIndex
CREATE INDEX "results_scenario_id_idx" ON "results"("scenario_id");

-- CreateIndex
CREATE UNIQUE INDEX "results_trial_id_scenario_id_key" ON "results"("trial_id", "scenario_id");

-- CreateIndex
CREATE UNIQUE INDEX "judgements_once_key" ON "judgements"("result_id", "scored_by", "model_asked", "prompt_hash", "rubric_version", "input_hash", "repeat", "attempt");

-- CreateIndex
CREATE UNIQUE INDEX "judge_requests_request_key_key" ON "judge_requests"("request_key");

-- CreateIndex
CREATE INDEX "judge_requests_result_id_idx" ON "judge_requests"("result_id");

-- CreateIndex
CREATE INDEX "judge_requests_open_idx" ON "judge_requests"("lane", "id") WHERE (done_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "gold_labels_gold_set_id_position_key" ON "gold_labels"("gold_set_id", "position");

-- CreateIndex
CREATE INDEX "calibrations_judge_model_prompt_hash_rubric_version_created_idx" ON "calibrations"("judge_model", "prompt_hash", "rubric_version", "created_at");

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_sweep_id_fkey" FOREIGN KEY ("sweep_id") REFERENCES "sweeps"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "trials" ADD CONSTRAINT "trials_sweep_id_fkey" FOREIGN KEY ("sweep_id") REFERENCES "sweeps"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "exchanges" ADD CONSTRAINT "exchanges_trial_id_fkey" FOREIGN KEY ("trial_id") REFERENCES "trials"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "readings" ADD CONSTRAINT "readings_trial_id_fkey" FOREIGN KEY ("trial_id") REFERENCES "trials"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scores" ADD CONSTRAINT "scores_trial_id_fkey" FOREIGN KEY ("trial_id") REFERENCES "trials"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "results" ADD CONSTRAINT "results_scenario_id_fkey" FOREIGN KEY ("scenario_id") REFERENCES "scenarios"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "results" ADD CONSTRAINT "results_trial_id_fkey" FOREIGN KEY ("trial_id") REFERENCES "trials"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "judgements" ADD CONSTRAINT "judgements_result_id_fkey" FOREIGN KEY ("result_id") REFERENCES "results"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "judge_requests" ADD CONSTRAINT "judge_requests_result_id_fkey" FOREIGN KEY ("result_id") REFERENCES "results"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
