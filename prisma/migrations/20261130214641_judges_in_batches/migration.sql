-- A request to a judge may stand in a batch: its nonce is kept with it, and its judgement says which batch answered it.

-- AlterTable
ALTER TABLE "batch_rows" ADD COLUMN     "reading_json" TEXT;

-- AlterTable
ALTER TABLE "judgements" ADD COLUMN     "batch_id" UUID;
