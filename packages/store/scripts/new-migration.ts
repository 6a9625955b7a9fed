// npm run migration:new -- name_of_the_change
// Writes prisma/migrations/<stamp>_<name>/migration.sql: what leads from the committed migrations to schema.prisma.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { openEmbeddedPostgres } from "../src/embedded/open-embedded-postgres.ts";
import { diffMigrationsToSchema, prismaFolder } from "./schema-engine.ts";

const name = process.argv[2] ?? "";
if (!/^[a-z][a-z0-9_]*$/.test(name)) {
  console.error("Name the change in lower case with underscores: npm run migration:new -- add_prices");
  process.exit(2);
}
const home = mkdtempSync(path.join(tmpdir(), "hallumaze-migration-"));
const server = await openEmbeddedPostgres({ home });
try {
  const sql = await diffMigrationsToSchema(server.url);
  if (sql === "") {
    console.log("schema.prisma and the migrations agree: nothing written.");
  } else {
    const stamp = new Date().toISOString().replaceAll(/\D/g, "").slice(0, 14);
    const folder = path.join(prismaFolder, "migrations", `${stamp}_${name}`);
    mkdirSync(folder);
    writeFileSync(path.join(folder, "migration.sql"), `-- Reason: say why here.\n\n${sql}`);
    console.log(`Wrote ${path.relative(process.cwd(), folder)}/migration.sql. State the reason in its first line.`);
  }
} finally {
  await server.close();
  rmSync(server.dataFolder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
}
