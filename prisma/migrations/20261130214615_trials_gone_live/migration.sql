-- A trial that went live for its deadline stays live where its sweep is submitted again: nothing goes back into a batch.

-- AlterTable
ALTER TABLE "trials" ADD COLUMN     "went_live" BOOLEAN NOT NULL DEFAULT false;
