import { createDatabase, describeQueueContract } from "@hallumaze/testkit";

import { describeOutages } from "../test/describe-outages.ts";
import { startPostgresQueue } from "../test/queue-under-test.ts";

describeQueueContract("the queue on Postgres", async () => startPostgresQueue(await createDatabase()));

describeOutages(async () => {
  const { url, drop } = await createDatabase();
  return { url, drop, target: (databaseUrl) => ({ databaseUrl }) };
});
