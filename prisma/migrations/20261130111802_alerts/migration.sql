-- People are told once of what comes about, whichever of many workers sees it: a row decides who tells.

-- CreateTable
CREATE TABLE "alerts" (
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "marker" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL,
    "occurrence" INTEGER NOT NULL DEFAULT 1,
    "facts_json" TEXT NOT NULL,
    "raised_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_until" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "told_at" TIMESTAMPTZ(3),

    CONSTRAINT "alerts_pkey" PRIMARY KEY ("kind","subject")
);
