-- A batch outlives its worker: what was handed to a vendor, and what it still holds, is in the ledger before it goes out.

-- AlterTable
ALTER TABLE "exchanges" ADD COLUMN     "batch_id" UUID;

-- CreateTable
CREATE TABLE "batches" (
    "id" UUID NOT NULL,
    "lane" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "key_env" TEXT,
    "headers_json" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'gathering',
    "vendor_id" TEXT,
    "is_guess" BOOLEAN NOT NULL DEFAULT false,
    "not_ours" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "submissions" INTEGER NOT NULL DEFAULT 0,
    "looks" INTEGER NOT NULL DEFAULT 0,
    "misses" INTEGER NOT NULL DEFAULT 0,
    "halvings" INTEGER NOT NULL DEFAULT 0,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "claimed_by" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "not_before" TIMESTAMPTZ(3),
    "message" TEXT,
    "reckoning" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "submitted_at" TIMESTAMPTZ(3),
    "done_at" TIMESTAMPTZ(3),

    CONSTRAINT "batches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "batch_rows" (
    "batch_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "trial_id" UUID NOT NULL,
    "fence" INTEGER NOT NULL,
    "turn" INTEGER NOT NULL,
    "try_number" INTEGER NOT NULL,
    "exchange_id" UUID NOT NULL,
    "request_json" TEXT,
    "queue_ms" INTEGER,
    "bound_usd" DECIMAL(24,12),
    "landed_at" TIMESTAMPTZ(3),

    CONSTRAINT "batch_rows_pkey" PRIMARY KEY ("batch_id","position")
);

-- CreateIndex
CREATE UNIQUE INDEX "batches_provider_vendor_id_key" ON "batches"("provider", "vendor_id");

-- CreateIndex
CREATE INDEX "batches_open_idx" ON "batches"("not_before", "created_at") WHERE (state <> 'done'::text);

-- CreateIndex
CREATE INDEX "batch_rows_trial_id_idx" ON "batch_rows"("trial_id");

-- AddForeignKey
ALTER TABLE "batch_rows" ADD CONSTRAINT "batch_rows_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "batches"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
