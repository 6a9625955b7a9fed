// npm run generate [-- --output FOLDER]
// Runs `prisma generate`. The client needs no engine, yet the command looks for one to download; naming any executable
// stops that. For this command only: exported, the variable makes `prisma migrate deploy` do nothing and succeed.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const prismaFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../prisma");
const schemaFile = path.join(prismaFolder, "schema.prisma");
const outputAt = process.argv.indexOf("--output");
const output = outputAt === -1 ? null : process.argv[outputAt + 1];
const cli = createRequire(import.meta.url).resolve("prisma/build/index.js");

const run = (schema) =>
  spawnSync(process.execPath, [cli, "generate", "--schema", schema], {
    cwd: path.dirname(prismaFolder),
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    },
    stdio: ["ignore", "inherit", "inherit"],
  }).status ?? 1;

if (output === null) {
  process.exitCode = run(schemaFile);
} else {
  // The output folder stands in the schema: a copy of it beside the original names another one.
  const copy = path.join(path.resolve(output, ".."), "schema.prisma");
  const text = readFileSync(schemaFile, "utf8").replace(
    /^(\s*output\s*=).*$/m,
    `$1 ${JSON.stringify(path.resolve(output))}`,
  );
  writeFileSync(copy, text);
  process.exitCode = run(copy);
  rmSync(copy);
}
