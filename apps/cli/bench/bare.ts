/** Texts of one trial, as the bare worker writes them. */
export interface BareRow {
  readonly request: string;
  readonly body: string;
  readonly text: string;
  readonly reading: string;
}

export const bareQueueName = "bare-solve";

/** Plain tables of the bare worker: no lease, no versions, no profiles. */
export const bareSchema = `
  CREATE TABLE IF NOT EXISTS bare_rows (id bigint PRIMARY KEY, row json NOT NULL);
  CREATE TABLE IF NOT EXISTS bare_trials (id bigint PRIMARY KEY, state text NOT NULL, fence int NOT NULL, claimed_by text, lease_until timestamptz, finished_at timestamptz);
  CREATE TABLE IF NOT EXISTS bare_exchanges (trial_id bigint PRIMARY KEY, request text NOT NULL, body text NOT NULL, text text NOT NULL);
  CREATE TABLE IF NOT EXISTS bare_results (trial_id bigint PRIMARY KEY, reading text NOT NULL, mei float8 NOT NULL);
  CREATE TABLE IF NOT EXISTS bare_cells (cell_id text PRIMARY KEY, alias text NOT NULL, lane text NOT NULL, ordinal int NOT NULL, plan json NOT NULL);
  TRUNCATE bare_rows, bare_trials, bare_exchanges, bare_results;
`;
