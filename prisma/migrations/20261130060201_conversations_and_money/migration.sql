-- Reason: a trial may be a conversation of several turns; a sweep may have a budget, charged before each request, so
-- that what a killed worker had sent is known as well.

-- AlterTable: a price has up to six decimals for a million tokens, so a cost has up to twelve.
ALTER TABLE "exchanges" ADD COLUMN     "cost_bound_usd" DECIMAL(24,12),
ALTER COLUMN "cost_usd" SET DATA TYPE DECIMAL(24,12);

-- AlterTable
ALTER TABLE "judgements" ALTER COLUMN "cost_usd" SET DATA TYPE DECIMAL(24,12);

-- AlterTable
ALTER TABLE "submissions" ADD COLUMN     "estimate_json" TEXT;

-- AlterTable
ALTER TABLE "sweeps" ADD COLUMN     "budget_usd" DECIMAL(24,12),
ADD COLUMN     "reserved_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
ADD COLUMN     "spent_usd" DECIMAL(24,12) NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "trials" ADD COLUMN     "kept_turns" SMALLINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "open_requests" (
    "subject_id" UUID NOT NULL,
    "fence" INTEGER NOT NULL,
    "turn" INTEGER NOT NULL,
    "try_number" INTEGER NOT NULL,
    "sweep_id" UUID NOT NULL,
    "worker_id" TEXT NOT NULL,
    "bound_usd" DECIMAL(24,12),
    "opened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "open_requests_pkey" PRIMARY KEY ("subject_id","fence","turn","try_number")
);

-- CreateIndex
CREATE INDEX "open_requests_sweep_id_idx" ON "open_requests"("sweep_id");

-- AddForeignKey
ALTER TABLE "open_requests" ADD CONSTRAINT "open_requests_sweep_id_fkey" FOREIGN KEY ("sweep_id") REFERENCES "sweeps"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What earlier versions have spent.
UPDATE "sweeps" SET "spent_usd" = paid.usd
FROM (
  SELECT t.sweep_id, sum(e.cost_usd) AS usd FROM exchanges e JOIN trials t ON t.id = e.trial_id
  WHERE e.cost_usd IS NOT NULL GROUP BY t.sweep_id
) paid
WHERE paid.sweep_id = "sweeps".id;
