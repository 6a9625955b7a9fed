-- Reason: operators pause, cancel and rank sweeps, and park and limit lanes, while workers run; their word stands in the
-- ledger. Only columns with defaults and a new table: a program of the release before works on beside.

-- AlterTable
ALTER TABLE "sweeps" ADD COLUMN     "cancelled_at" TIMESTAMPTZ(3),
ADD COLUMN     "paused_at" TIMESTAMPTZ(3),
ADD COLUMN     "paused_models" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "priority" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "priority_given" INTEGER,
ADD COLUMN     "weight" DOUBLE PRECISION NOT NULL DEFAULT 1,
ADD COLUMN     "weight_given" DOUBLE PRECISION;

-- AlterTable
ALTER TABLE "trials" ADD COLUMN     "cancel_requested" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "turn" DOUBLE PRECISION;

-- CreateTable
CREATE TABLE "lane_controls" (
    "lane" TEXT NOT NULL,
    "limits_json" TEXT,
    "parked_at" TIMESTAMPTZ(3),
    "parked_until" TIMESTAMPTZ(3),
    "park_reason" TEXT,

    CONSTRAINT "lane_controls_pkey" PRIMARY KEY ("lane")
);
