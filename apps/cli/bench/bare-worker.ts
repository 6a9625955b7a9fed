// The yardstick: BullMQ and pg with nothing of ours. One claim-update and two inserts a job.
import { Worker } from "bullmq";
import pg from "pg";

import { type BareRow, bareQueueName } from "./bare.ts";

const [redisUrl = "", databaseUrl = "", concurrency = "50"] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const { rows } = await pool.query<{ row: BareRow }>("SELECT row FROM bare_rows");
const worker = new Worker<{ trialId: number }>(
  bareQueueName,
  async (job) => {
    const { trialId } = job.data;
    const sample = rows[trialId % rows.length]?.row;
    if (!sample) throw new Error("no sample rows");
    await pool.query({
      name: "claim",
      text: "UPDATE bare_trials SET state = 'running', fence = fence + 1, claimed_by = 'bare', lease_until = now() + interval '30 s' WHERE id = $1 AND state = 'queued' RETURNING fence",
      values: [trialId],
    });
    await pool.query({
      name: "exchange",
      text: "INSERT INTO bare_exchanges VALUES ($1, $2, $3, $4)",
      values: [trialId, sample.request, sample.body, sample.text],
    });
    await pool.query({
      name: "result",
      text: "WITH r AS (INSERT INTO bare_results VALUES ($1, $2, $3) RETURNING trial_id) UPDATE bare_trials SET state = 'done', finished_at = clock_timestamp() FROM r WHERE id = r.trial_id",
      values: [trialId, sample.reading, 0.9],
    });
  },
  {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    concurrency: Number(concurrency),
    removeOnComplete: { count: 0 },
  },
);
process.on(
  "SIGTERM",
  () =>
    void worker
      .close()
      .then(() => pool.end())
      .then(() => process.exit(0)),
);
