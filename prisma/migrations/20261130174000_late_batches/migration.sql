-- A batch that would miss its sweep's deadline is not waited for: what has not run is asked live, once.

-- AlterTable
ALTER TABLE "batches" ADD COLUMN     "late_at" TIMESTAMPTZ(3),
ADD COLUMN     "live_lane" TEXT;
