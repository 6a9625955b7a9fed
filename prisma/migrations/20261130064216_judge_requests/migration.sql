-- Reason: a request to a judge runs as a trial does, under a lease with a fence; a trial is judged on its own exchanges and
-- plan, so its result needs no copy of them. No version has written into these tables yet.

-- DropForeignKey
ALTER TABLE "results" DROP CONSTRAINT "results_scenario_id_fkey";

-- DropIndex
DROP INDEX "judge_requests_open_idx";

-- DropIndex
DROP INDEX "judgements_once_key";

-- DropIndex
DROP INDEX "results_trial_id_scenario_id_key";

-- AlterTable
ALTER TABLE "judge_requests" DROP CONSTRAINT "judge_requests_pkey",
DROP COLUMN "done_at",
DROP COLUMN "sent_at",
ADD COLUMN     "finished_at" TIMESTAMPTZ(3),
ADD COLUMN     "generation" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "losses" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "outcome" TEXT,
ADD COLUMN     "plan_json" TEXT NOT NULL,
ADD COLUMN     "queued_at" TIMESTAMPTZ(3),
ADD COLUMN     "state" "trial_state" NOT NULL DEFAULT 'planned',
ADD COLUMN     "sweep_id" UUID,
ADD COLUMN     "waits" INTEGER NOT NULL DEFAULT 0,
DROP COLUMN "id",
ADD COLUMN     "id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD CONSTRAINT "judge_requests_pkey" PRIMARY KEY ("id");

-- AlterTable
ALTER TABLE "judgements" ADD COLUMN     "late_duplicate" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "round" TEXT NOT NULL DEFAULT 'first';

-- AlterTable
ALTER TABLE "results" ALTER COLUMN "scenario_id" DROP NOT NULL,
ALTER COLUMN "response" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "judge_requests_sweep_id_idx" ON "judge_requests"("sweep_id");

-- CreateIndex
CREATE INDEX "judge_requests_open_idx" ON "judge_requests"("lane", "created_at", "id") WHERE (state = ANY (ARRAY['planned'::trial_state, 'queued'::trial_state]));

-- CreateIndex
CREATE INDEX "judge_requests_running_idx" ON "judge_requests"("lease_until") WHERE (state = 'running'::trial_state);

-- CreateIndex
CREATE INDEX "judgements_result_id_idx" ON "judgements"("result_id");

-- CreateIndex
CREATE UNIQUE INDEX "judgements_heuristic_key" ON "judgements"("result_id", "scored_by", "prompt_hash", "input_hash", "round") WHERE (decided_by = 'heuristic'::text);

-- CreateIndex
CREATE UNIQUE INDEX "results_trial_id_key" ON "results"("trial_id");

-- AddForeignKey
ALTER TABLE "results" ADD CONSTRAINT "results_scenario_id_fkey" FOREIGN KEY ("scenario_id") REFERENCES "scenarios"("id") ON DELETE SET NULL ON UPDATE CASCADE;
