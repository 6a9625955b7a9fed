-- Reason: others' results (published trials, the original program's files, people) stand in tables of their own with where
-- they came from. New tables only: programs of the last release go on beside it.

-- CreateTable
CREATE TABLE "imports" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "kind" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "file_name" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "content_key" TEXT NOT NULL,
    "byte_count" INTEGER NOT NULL,
    "row_count" INTEGER NOT NULL,
    "skipped_json" TEXT NOT NULL,
    "warnings_json" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "imports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "imported_trials" (
    "import_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "provider" TEXT,
    "model" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "seed" BIGINT,
    "group" TEXT,
    "mirage" BOOLEAN,
    "language" TEXT,
    "confidence" BOOLEAN,
    "participant" TEXT,
    "n" INTEGER NOT NULL,
    "outcome" TEXT,
    "latency_ms" INTEGER,
    "scores_json" TEXT NOT NULL,
    "deviations_json" TEXT,
    "log_text" TEXT,
    "reading_json" TEXT,
    "reader_version" TEXT,
    "record_json" TEXT NOT NULL,

    CONSTRAINT "imported_trials_pkey" PRIMARY KEY ("import_id","position")
);

-- CreateIndex
CREATE UNIQUE INDEX "imports_content_key_key" ON "imports"("content_key");

-- AddForeignKey
ALTER TABLE "imported_trials" ADD CONSTRAINT "imported_trials_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "imports"("id") ON DELETE CASCADE ON UPDATE CASCADE;
