import { strictTls } from "@hallumaze/servers";
import { toStoreError } from "@hallumaze/store";
import type { LabelPort, ViewPort } from "@hallumaze/viewing";
import pg from "pg";

import { gridRows, trialsOnMaze } from "./grid-rows.ts";
import { calibrations, findCalibrationById, goldTexts } from "./calibration-rows.ts";
import { createLabelMethods } from "./label-rows.ts";
import { findPerson, peopleOnMaze } from "./person-rows.ts";
import { type Query, type Sql, textOf } from "./sql.ts";
import { firstFailures, ledgerVersions, sweepCounts } from "./sweep-rows.ts";
import { findTrial } from "./trial-rows.ts";

/** How to open the views. */
export interface OpenViewsOptions {
  /** The ledger's PostgreSQL, or a pooler in transaction mode before it. */
  readonly databaseUrl: string;
  /** True where `databaseUrl` is a pooler, which refuses settings of a connection. False unless told. */
  readonly isPooled?: boolean;
  /** Connections, 1 or more; 3 unless told. */
  readonly poolSize?: number;
}

/** The views, with the connections that they opened. */
export interface LedgerViews extends ViewPort, LabelPort {
  readonly close: () => Promise<void>;
}

const connectTimeoutMs = 5000;
/** Nobody looks at a page for longer; a heavy look must not keep the database from its workers. */
const statementTimeoutMs = 20_000;

/**
 * Opens what the page reads of a ledger, over connections of its own: however many look, the workers' calls wait for none of
 * theirs. Connects at the first look.
 */
export function openLedgerViews(options: OpenViewsOptions): LedgerViews {
  const { databaseUrl, isPooled = false, poolSize = 3 } = options;
  const pool = new pg.Pool({
    connectionString: strictTls(databaseUrl),
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(isPooled ? {} : { statement_timeout: statementTimeoutMs }),
    query_timeout: statementTimeoutMs + 2000,
    keepAlive: true,
    application_name: "hallumaze-views",
  });
  pool.on("error", () => {
    // An idle connection was cut: the pool drops it and opens another when asked. Unheard, the event ends the process.
  });
  const query: Query = async <Row extends object>(statement: Sql) => {
    try {
      return (await pool.query<Row & pg.QueryResultRow>(textOf(statement), [...statement.values])).rows;
    } catch (error) {
      throw toStoreError(error, databaseUrl);
    }
  };
  return {
    sweepCounts: () => sweepCounts(query),
    versions: () => ledgerVersions(query),
    gridRows: (sweepId, column, limit) => gridRows(query, sweepId, column, limit),
    trialsOnMaze: (sweepId, maze, limit) => trialsOnMaze(query, sweepId, maze, limit),
    findPerson: (importId, position) => findPerson(query, importId, position),
    peopleOnMaze: (maze, limit) => peopleOnMaze(query, maze, limit),
    calibrations: (limit) => calibrations(query, limit),
    findCalibrationById: (calibrationId) => findCalibrationById(query, calibrationId),
    goldTexts: (goldSetId, limit) => goldTexts(query, goldSetId, limit),
    ...createLabelMethods(query),
    firstFailures: (sweepId) => firstFailures(query, sweepId),
    findTrial: (trialId) => findTrial(query, trialId),
    close: () => pool.end(),
  };
}
