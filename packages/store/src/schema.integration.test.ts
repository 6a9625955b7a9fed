import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { createDatabase } from "@hallumaze/testkit";
import pg from "pg";
import { expect, it } from "vitest";

import { diffDatabaseToSchema, diffMigrationsToSchema } from "../scripts/schema-engine.ts";
import { migrateDatabase } from "./migrate.ts";

const here = path.dirname(fileURLToPath(import.meta.url));

it("a migrated database is what schema.prisma says, and a changed one is seen to differ", async () => {
  const database = await createDatabase();
  try {
    await migrateDatabase(database.url);
    expect(await diffDatabaseToSchema(database.url)).toBe("");
    expect(await diffMigrationsToSchema(database.url)).toBe("");
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("ALTER TABLE trials DROP COLUMN waits");
    await client.end();
    expect(await diffDatabaseToSchema(database.url)).toContain('ADD COLUMN     "waits"');
  } finally {
    await database.drop();
  }
});

it("the committed client is what schema.prisma generates", () => {
  // Inside the package, so that the generator sees the same module settings as for the committed one.
  const folder = mkdtempSync(path.join(tmpdir(), "hallumaze-generate-"));
  try {
    const output = path.join(folder, "generated");
    const script = path.join(here, "../scripts/generate.mjs");
    const ended = spawnSync(process.execPath, [script, "--output", output], { encoding: "utf8", timeout: 50_000 });
    expect(ended.status, ended.stderr).toBe(0);
    const generated = listFiles(output);
    expect(generated.length).toBeGreaterThan(10);
    expect(generated).toEqual(listFiles(path.join(here, "generated")));
    for (const file of generated) {
      expect(readGenerated(path.join(output, file)), file).toBe(readGenerated(path.join(here, "generated", file)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** The schema's text stands in the client with its output path, which is another one here. */
function readGenerated(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/output\s*=\s*\\"[^"]*\\"/g, "output");
}
