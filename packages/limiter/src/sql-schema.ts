import { createHash } from "node:crypto";

import { pacing } from "./pacing.ts";
import { sqlOperations } from "./sql-operations.ts";
import { sqlReserve } from "./sql-reserve.ts";

/** Any number nobody else locks: serialises the making of the schema. */
export const schemaLock = 5_217_033_911;

const tables = `
CREATE SCHEMA IF NOT EXISTS limiter;
CREATE TABLE IF NOT EXISTS limiter.version (hash text NOT NULL);
CREATE TABLE IF NOT EXISTS limiter.lane (
  name text PRIMARY KEY,
  configured float8[], learned float8[] NOT NULL DEFAULT '{NULL,NULL,NULL,NULL}',
  levels float8[] NOT NULL DEFAULT '{NULL,NULL,NULL,NULL}', pools float8[] NOT NULL DEFAULT '{0,0,0,0}', at float8,
  queued float8[] NOT NULL DEFAULT '{0,0,0,0}', virtual float8 NOT NULL DEFAULT 0,
  others_left float8[] NOT NULL DEFAULT '{NULL,NULL,NULL,NULL}', others_at float8[] NOT NULL DEFAULT '{NULL,NULL,NULL,NULL}',
  most_left float8[] NOT NULL DEFAULT '{NULL,NULL,NULL,NULL}', cool float8 NOT NULL DEFAULT 0, shrunk_at float8, shrunk_from float8, lowered_at float8,
  parked_at float8, parked_reason text, resumes_at float8,
  granted int8 NOT NULL DEFAULT 0, limited int8 NOT NULL DEFAULT 0, hold float8,
  binding int, bound_at float8, first_at float8, use_at int8[] NOT NULL DEFAULT '{}', used float8[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS limiter.ticket (
  lane text, id text, turn float8 NOT NULL, due float8 NOT NULL, tenant text NOT NULL, share float8 NOT NULL,
  cost float8[] NOT NULL, PRIMARY KEY (lane, id)
);
CREATE INDEX IF NOT EXISTS ticket_turn ON limiter.ticket (lane, turn, id);
CREATE INDEX IF NOT EXISTS ticket_due ON limiter.ticket (lane, due);
CREATE TABLE IF NOT EXISTS limiter.tenant (lane text, tenant text, turn float8 NOT NULL, used_at float8 NOT NULL, PRIMARY KEY (lane, tenant));
CREATE TABLE IF NOT EXISTS limiter.reservation (
  lane text, id text, input float8 NOT NULL, output float8 NOT NULL, granted_at float8 NOT NULL,
  expires float8 NOT NULL, lease_until float8 NOT NULL, PRIMARY KEY (lane, id)
);
CREATE INDEX IF NOT EXISTS reservation_expires ON limiter.reservation (lane, expires);
CREATE INDEX IF NOT EXISTS reservation_lease ON limiter.reservation (lane, lease_until);
`;

const shared = `
CREATE OR REPLACE FUNCTION limiter.locked(p_lane text) RETURNS limiter.lane LANGUAGE plpgsql AS $$
DECLARE s limiter.lane;
BEGIN
  SELECT * INTO s FROM limiter.lane WHERE name = p_lane FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO limiter.lane (name) VALUES (p_lane) ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM limiter.lane WHERE name = p_lane FOR UPDATE;
  END IF;
  RETURN s;
END $$;

-- Milliseconds; to be asked after the row lock, or those who waited for it would reckon with a stale time.
CREATE OR REPLACE FUNCTION limiter.now_ms() RETURNS float8 LANGUAGE sql VOLATILE AS
$$ SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 $$;

CREATE OR REPLACE FUNCTION limiter.factor(s limiter.lane, now_ms float8, minute float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE minutes float8; plateau float8;
BEGIN
  IF s.shrunk_at IS NULL THEN RETURN 1; END IF;
  minutes := greatest(0, now_ms - s.shrunk_at) / minute;
  plateau := power(${1 - pacing.shrinkTo} * s.shrunk_from / ${pacing.growth}, 1.0 / 3);
  RETURN least(1, greatest(${pacing.factorMin}, s.shrunk_from + ${pacing.growth} * power(minutes - plateau, 3)));
END $$;

CREATE OR REPLACE FUNCTION limiter.left_by_others(s limiter.lane, d int, now_ms float8, minute float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN now_ms - s.others_at[d] < minute * ${pacing.followMinutes} THEN s.others_left[d] ELSE 1 END $$;

CREATE OR REPLACE FUNCTION limiter.refreshed(
  s limiter.lane, now_ms float8, minute float8, OUT bases float8[], OUT rates float8[], OUT bursts float8[], OUT levels float8[], OUT pools float8[]
) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE f float8 := limiter.factor(s, now_ms, minute); b float8; level float8;
  elapsed float8 := greatest(0, now_ms - greatest(coalesce(s.at, now_ms), s.cool));
  released float8 := 1 - exp(-least(700, greatest(0, now_ms - coalesce(s.at, now_ms)) / greatest(1, coalesce(s.hold, 1))));
BEGIN
  bases := '{NULL,NULL,NULL,NULL}'; rates := bases; bursts := bases; levels := bases; pools := s.pools;
  FOR d IN 1..4 LOOP
    b := least(s.configured[d], s.learned[d]);
    CONTINUE WHEN b IS NULL;
    bases[d] := b;
    rates[d] := b * least(f, limiter.left_by_others(s, d, now_ms, minute)) * ${pacing.refillShare} / minute;
    bursts[d] := CASE WHEN d = 1 THEN 1 + greatest(0, b - ${pacing.burstFromRequests}) * f * ${pacing.burstShare} ELSE b * f * ${pacing.burstShare} END;
    level := CASE WHEN s.levels[d] IS NOT NULL THEN s.levels[d] + rates[d] * elapsed + pools[d] * released WHEN d = 1 THEN 1 ELSE bursts[d] * ${pacing.startShare} END;
    levels[d] := least(bursts[d], level);
    -- exp() of a number just above -745 is an error here, not 0, and so is a product too small for a float.
    pools[d] := CASE WHEN released > 0.999999 OR pools[d] < 0.000001 THEN 0 ELSE pools[d] * (1 - released) END;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION limiter.keep_little(bursts float8[], d int) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN d = 1 THEN greatest(1, bursts[d] * ${pacing.keepShare}) ELSE bursts[d] * ${pacing.keepShare} END $$;

CREATE OR REPLACE FUNCTION limiter.add_use(s limiter.lane, now_ms float8, minute float8, more float8[]) RETURNS limiter.lane LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE slot int8 := floor(now_ms * ${pacing.useSlots} / minute); i int := slot % ${pacing.useSlots + 1}; at int8[] := s.use_at; used float8[] := s.used;
BEGIN
  IF cardinality(at) = 0 THEN
    at := array_fill(0::int8, ARRAY[${pacing.useSlots + 1}]); used := array_fill(0::float8, ARRAY[${(pacing.useSlots + 1) * 3}]);
  END IF;
  FOR d IN 1..3 LOOP
    used[i * 3 + d] := CASE WHEN at[i + 1] = slot THEN used[i * 3 + d] ELSE 0 END + more[d];
  END LOOP;
  at[i + 1] := slot; s.use_at := at; s.used := used;
  RETURN s;
END $$;

CREATE OR REPLACE FUNCTION limiter.save(s limiter.lane) RETURNS void LANGUAGE sql AS $$
  UPDATE limiter.lane SET configured = s.configured, learned = s.learned, levels = s.levels, pools = s.pools, at = s.at, queued = s.queued,
    virtual = s.virtual, cool = s.cool, others_left = s.others_left, others_at = s.others_at, most_left = s.most_left, shrunk_at = s.shrunk_at, shrunk_from = s.shrunk_from, lowered_at = s.lowered_at,
    parked_at = s.parked_at, parked_reason = s.parked_reason, resumes_at = s.resumes_at, granted = s.granted,
    limited = s.limited, hold = s.hold, binding = s.binding, bound_at = s.bound_at, first_at = s.first_at,
    use_at = s.use_at, used = s.used
  WHERE name = s.name
$$;

CREATE OR REPLACE FUNCTION limiter.drop_ticket(s limiter.lane, p_id text, gone boolean) RETURNS limiter.lane LANGUAGE plpgsql AS $$
DECLARE t limiter.ticket; left_behind float8[] := s.queued;
BEGIN
  DELETE FROM limiter.ticket WHERE lane = s.name AND id = p_id RETURNING * INTO t;
  IF NOT FOUND THEN RETURN s; END IF;
  IF NOT EXISTS (SELECT 1 FROM limiter.ticket WHERE lane = s.name) THEN left_behind := '{0,0,0,0}';
  ELSE FOR d IN 1..4 LOOP left_behind[d] := greatest(0, left_behind[d] - t.cost[d]); END LOOP; END IF;
  s.queued := left_behind;
  -- A turn that nobody took is given back to its tenant, or a cancelled sweep would pay for it in its next one.
  IF gone THEN UPDATE limiter.tenant SET turn = turn - t.share WHERE lane = s.name AND tenant = t.tenant; END IF;
  RETURN s;
END $$;

CREATE OR REPLACE FUNCTION limiter.prune(s limiter.lane, now_ms float8, minute float8) RETURNS limiter.lane LANGUAGE plpgsql AS $$
DECLARE lost text;
BEGIN
  DELETE FROM limiter.reservation WHERE lane = s.name AND expires <= now_ms;
  FOR lost IN SELECT id FROM limiter.ticket WHERE lane = s.name AND due <= now_ms - minute * ${pacing.ticketMinutes} ORDER BY due LIMIT 20 LOOP
    s := limiter.drop_ticket(s, lost, true);
  END LOOP;
  RETURN s;
END $$;

CREATE OR REPLACE FUNCTION limiter.is_parked(s limiter.lane, now_ms float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT s.parked_at IS NOT NULL AND NOT coalesce(s.resumes_at <= now_ms, false) $$;
`;

/** Makes or updates the schema; to be run in one transaction under `schemaLock`. */
export const sqlSchema = `${tables}${shared}${sqlReserve}${sqlOperations}`;

/** Changes with any byte of the schema. */
export const sqlSchemaHash = createHash("sha256").update(sqlSchema).digest("hex");
