-- Reason: a warning compares how long two requests were; that outlasts the pruning of their text.

-- AlterTable
ALTER TABLE "exchanges" ADD COLUMN     "request_bytes" INTEGER;
