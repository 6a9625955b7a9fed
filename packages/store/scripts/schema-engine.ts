// Prisma's schema engine as WebAssembly, for development: its native engine is a download that a closed network refuses.
// Authors migrations and compares schema.prisma with a database. The product itself never loads it.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { PrismaPg } from "@prisma/adapter-pg";
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlQuery,
  type SqlResultSet,
} from "@prisma/driver-adapter-utils";
import pg from "pg";

/** Where the schema and the migrations live. */
export const prismaFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../prisma");
export const schemaFile = path.join(prismaFolder, "schema.prisma");
const migrationsFolder = path.join(prismaFolder, "migrations");

/** The SQL that leads from the committed migrations to schema.prisma; empty where there is nothing to do. */
export async function diffMigrationsToSchema(url: string): Promise<string> {
  return diff(url, { tag: "migrations", ...listMigrations() }, schemaDatamodel());
}

/** The SQL that leads from the live database to schema.prisma; empty where they agree. */
export async function diffDatabaseToSchema(url: string): Promise<string> {
  return diff(url, { tag: "schemaDatasource", files: schemaFiles(), configDir: prismaFolder }, schemaDatamodel());
}

type DiffSide = Readonly<Record<string, unknown>>;

async function diff(url: string, from: DiffSide, to: DiffSide): Promise<string> {
  const engine = await loadEngine(url);
  try {
    const filters = { externalTables: [], externalEnums: [] };
    const result = await engine.diff({ from, to, script: true, exitCode: true, shadowDatabaseUrl: null, filters });
    return result.exitCode === 0 ? "" : (result.stdout ?? "");
  } finally {
    engine.free();
  }
}

function schemaDatamodel(): DiffSide {
  return { tag: "schemaDatamodel", files: schemaFiles() };
}

function schemaFiles() {
  return [{ path: schemaFile, content: readFileSync(schemaFile, "utf8") }];
}

function listMigrations(): DiffSide {
  const folders = readdirSync(migrationsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const readText = (...parts: string[]): string => readFileSync(path.join(migrationsFolder, ...parts), "utf8");
  return {
    baseDir: migrationsFolder,
    shadowDbInitScript: "",
    lockfile: { path: "migration_lock.toml", content: readText("migration_lock.toml") },
    migrationDirectories: folders.map((folder) => ({
      path: folder,
      migrationFile: { path: "migration.sql", content: { tag: "ok", value: readText(folder, "migration.sql") } },
    })),
  };
}

interface Engine {
  diff(options: DiffSide): Promise<{ readonly exitCode: number; readonly stdout: string | null }>;
  free(): void;
}

interface EngineModule {
  __wbg_set_wasm(exports: Readonly<Record<string, unknown>>): void;
  readonly SchemaEngine: {
    /** A static method that happens to be called "new". */
    "new"(options: unknown, log: (line: string) => void, adapter: unknown): Promise<Engine>;
  };
}

/** The part of WebAssembly that is used here: its types come with a browser's, which this project has not. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    instantiate(
      bytes: Uint8Array,
      imports: object,
    ): Promise<{ readonly instance: { readonly exports: Readonly<Record<string, unknown>> } }>;
  };
};

/** Once a process: the glue keeps views of one instance's memory, and a second instance would be read through them. */
let loading: Promise<EngineModule> | null = null;

async function loadGlue(): Promise<EngineModule> {
  // The package imports its .wasm as an ES module, which Node does not do unflagged: instantiate it by hand.
  const folder = path.dirname(createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm"));
  const glue = (await import(path.join(folder, "schema_engine_bg.js"))) as EngineModule;
  const { instance } = await webAssembly.instantiate(readFileSync(path.join(folder, "schema_engine_bg.wasm")), {
    "./schema_engine_bg.js": glue,
  });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
  return glue;
}

async function loadEngine(url: string): Promise<Engine> {
  loading ??= loadGlue();
  const glue = await loading;
  const adapter = bindMigrationAwareSqlAdapterFactory(createFactory(url));
  return glue.SchemaEngine.new(
    { datamodels: [[schemaFile, readFileSync(schemaFile, "utf8")]] },
    () => undefined,
    adapter,
  );
}

type Adapter = Awaited<ReturnType<PrismaPg["connect"]>>;

function createFactory(url: string): PrismaPg {
  const config = connectionParts(url);
  const factory = new PrismaPg(config);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => patch(await connect());
  // The adapter's own drops the shadow database while its pool is still connected to it, so that it stays behind.
  factory.connectToShadowDb = async () => {
    const database = `prisma_migrate_shadow_db_${randomUUID()}`;
    await runAsAdmin(config, `CREATE DATABASE "${database}" TEMPLATE template0`);
    const adapter = patch(await new PrismaPg({ ...config, database }).connect());
    const dispose = adapter.dispose.bind(adapter);
    adapter.dispose = async () => {
      await dispose();
      await runAsAdmin(config, `DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
    };
    return adapter;
  };
  return factory;
}

/** Parts, not the URL: the adapter spreads `{...config, database}`, and a URL in it would win over `database`. */
function connectionParts(url: string): pg.ClientConfig {
  const parsed = new URL(url);
  return {
    host: parsed.hostname,
    port: Number(parsed.port || 5432),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)),
  };
}

async function runAsAdmin(config: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const charOid = 18;
const textOid = 25;

/** Mends two things of adapter-pg 7.10 that the engine needs. */
function patch(adapter: Adapter): Adapter {
  const queryable = Object.getPrototypeOf(Object.getPrototypeOf(adapter)) as Pick<Adapter, "queryRaw">;
  const performIO = (adapter as unknown as { performIO(query: SqlQuery): Promise<pg.QueryArrayResult> }).performIO.bind(
    adapter,
  );
  // 1. It has no mapping for the catalogue type "char", which the describer reads.
  adapter.queryRaw = async (query): Promise<SqlResultSet> => {
    const raw = await performIO(query);
    const isChar = raw.fields.map((field) => field.dataTypeID === charOid);
    const fields = raw.fields.map((field) =>
      field.dataTypeID === charOid ? { ...field, dataTypeID: textOid } : field,
    );
    const stand = { performIO: async () => ({ ...raw, fields }) };
    const result = await queryable.queryRaw.call(stand as unknown as Adapter, query);
    const columnTypes = result.columnTypes.map((type, column) => (isChar[column] ? ColumnTypeEnum.Character : type));
    return { ...result, columnTypes };
  };
  // 2. It splits scripts at every `;`, in literals and function bodies too. Sent whole, a script is one transaction.
  adapter.executeScript = async (script) => {
    await adapter.underlyingDriver().query(script);
  };
  return adapter;
}
