-- People label a sweep's answers blind, in a fixed order that is drawn once; what they say becomes a gold set.

-- CreateTable
CREATE TABLE "labelling_items" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "sweep_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "trial_id" UUID NOT NULL,

    CONSTRAINT "labelling_items_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "human_labels" (
    "item_id" UUID NOT NULL,
    "rater" TEXT NOT NULL,
    "level" SMALLINT NOT NULL,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "human_labels_pkey" PRIMARY KEY ("item_id","rater")
);

-- CreateIndex
CREATE UNIQUE INDEX "labelling_items_sweep_id_position_key" ON "labelling_items"("sweep_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "labelling_items_sweep_id_trial_id_key" ON "labelling_items"("sweep_id", "trial_id");

-- AddForeignKey
ALTER TABLE "human_labels" ADD CONSTRAINT "human_labels_item_id_fkey" FOREIGN KEY ("item_id") REFERENCES "labelling_items"("id") ON DELETE CASCADE ON UPDATE CASCADE;
