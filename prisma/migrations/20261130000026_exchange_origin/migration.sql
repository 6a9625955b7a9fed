-- Reason: vendors tell who served a reply and in what words it ended, and a try may hold more requests than one.

-- AlterTable
ALTER TABLE "exchanges" ADD COLUMN     "native_finish_reason" TEXT,
ADD COLUMN     "served_by" TEXT,
ADD COLUMN     "side_requests_json" TEXT;
