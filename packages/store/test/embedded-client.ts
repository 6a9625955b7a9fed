// One client of the embedded server, as a process of its own: opens, says so, and closes at the end of its input.
import pg from "pg";

import { openEmbeddedPostgres } from "../src/embedded/open-embedded-postgres.ts";

const server = await openEmbeddedPostgres({ home: process.argv[2] ?? "", settings: { fsync: "off" } });
const client = new pg.Client({ connectionString: server.url });
await client.connect();
const { rows } = await client.query("SELECT current_setting('max_connections') AS connections");
await client.end();
console.log(JSON.stringify({ pid: server.pid, dataFolder: server.dataFolder, ...rows[0] }));
process.stdin.resume();
process.stdin.once("end", () => {
  void server.close();
});
