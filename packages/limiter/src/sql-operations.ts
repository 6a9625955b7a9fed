import { pacing } from "./pacing.ts";

/** The twins of the other scripts; see `lua-scripts.ts` for why. */
export const sqlOperations = `
CREATE OR REPLACE FUNCTION limiter.configure(p_lane text, minute float8, p_configured float8[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE s limiter.lane := limiter.locked(p_lane); now_ms float8 := limiter.now_ms(); p record;
BEGIN
  IF s.at IS NOT NULL THEN
    SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);
    s.levels := p.levels; s.pools := p.pools; s.at := now_ms;
  END IF;
  s.configured := p_configured;
  DELETE FROM limiter.tenant WHERE lane = p_lane AND used_at < now_ms - 86400000;
  PERFORM limiter.save(s);
END $$;

CREATE OR REPLACE FUNCTION limiter.give_back(s limiter.lane, minute float8, p_id text, p_input float8, p_output float8, was_sent boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE now_ms float8 := limiter.now_ms(); r limiter.reservation; p record; more float8[]; levels float8[]; pools float8[];
BEGIN
  DELETE FROM limiter.reservation WHERE lane = s.name AND id = p_id AND expires > now_ms RETURNING * INTO r;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);
  more := ARRAY[CASE WHEN was_sent THEN 0 ELSE -1 END, coalesce(p_input, r.input) - r.input, coalesce(p_output, r.output) - r.output];
  more[4] := more[2] + more[3];
  levels := p.levels; pools := p.pools;
  FOR d IN 1..4 LOOP
    IF levels[d] IS NOT NULL AND was_sent AND more[d] < 0 THEN pools[d] := pools[d] - more[d];
    ELSIF levels[d] IS NOT NULL THEN levels[d] := least(p.bursts[d], levels[d] - more[d]); END IF;
  END LOOP;
  s.levels := levels; s.pools := pools; s.at := now_ms;
  IF was_sent THEN s.hold := coalesce(s.hold + ${pacing.holdWeight} * (now_ms - r.granted_at - s.hold), now_ms - r.granted_at);
  ELSE s.granted := s.granted - 1; END IF;
  PERFORM limiter.save(limiter.add_use(s, now_ms, minute, more));
END $$;

CREATE OR REPLACE FUNCTION limiter.settle(p_lane text, minute float8, p_id text, p_input float8, p_output float8) RETURNS void LANGUAGE sql AS $$
  SELECT limiter.give_back(limiter.locked(p_lane), minute, p_id, p_input, p_output, true)
$$;

CREATE OR REPLACE FUNCTION limiter.cancel(p_lane text, minute float8, p_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE s limiter.lane := limiter.locked(p_lane);
BEGIN
  s := limiter.drop_ticket(s, p_id, true);
  PERFORM limiter.save(s);
  PERFORM limiter.give_back(s, minute, p_id, 0, 0, false);
END $$;

CREATE OR REPLACE FUNCTION limiter.renew(p_lane text, p_ids text[], lease_ms float8, reservation_ms float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE now_ms float8;
BEGIN
  PERFORM limiter.locked(p_lane);
  now_ms := limiter.now_ms();
  UPDATE limiter.reservation SET lease_until = now_ms + lease_ms, expires = now_ms + reservation_ms
  WHERE lane = p_lane AND id = ANY (p_ids) AND expires > now_ms;
END $$;

CREATE OR REPLACE FUNCTION limiter.cool(p_lane text, minute float8, for_ms float8, shrink boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE s limiter.lane := limiter.locked(p_lane); now_ms float8 := limiter.now_ms(); p record; levels float8[];
  until_ms float8 := greatest(s.cool, now_ms + for_ms); once float8 := minute * ${pacing.shrinkOnceMinutes};
BEGIN
  SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);
  levels := p.levels;
  IF shrink THEN
    s.limited := s.limited + 1;
    FOR d IN 1..4 LOOP
      IF levels[d] IS NOT NULL THEN levels[d] := least(levels[d], limiter.keep_little(p.bursts, d)); END IF;
    END LOOP;
    IF coalesce(now_ms - s.lowered_at >= once, true) AND coalesce(now_ms - s.shrunk_at > once, true) THEN
      s.shrunk_from := limiter.factor(s, now_ms, minute); s.shrunk_at := until_ms;
    END IF;
  END IF;
  s.levels := levels; s.pools := p.pools; s.at := now_ms; s.cool := until_ms;
  PERFORM limiter.save(s);
END $$;

CREATE OR REPLACE FUNCTION limiter.learn(p_lane text, minute float8, limits float8[], remaining float8[], resets float8[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE s limiter.lane := limiter.locked(p_lane); now_ms float8 := limiter.now_ms(); p record; levels float8[]; learned float8[];
  before float8; after float8; deep boolean; share float8; left_by_others float8[]; told_at float8[]; most float8[];
BEGIN
  SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);
  s.levels := p.levels; s.pools := p.pools; s.at := now_ms;
  FOR d IN 1..4 LOOP
    CONTINUE WHEN limits[d] IS NULL OR limits[d] <= 0;
    CONTINUE WHEN d = 4 AND s.configured[4] IS NULL
      AND coalesce(s.configured[2], s.configured[3], s.learned[2], s.learned[3]) IS NOT NULL;
    before := least(s.configured[d], s.learned[d]);
    learned := s.learned; learned[d] := limits[d]; s.learned := learned;
    after := least(s.configured[d], limits[d]);
    IF before IS DISTINCT FROM after THEN most := s.most_left; most[d] := NULL; s.most_left := most; END IF;
    IF after > before THEN s.shrunk_at := NULL; s.shrunk_from := NULL; END IF;
    IF after < before * 0.9 THEN
      s.lowered_at := now_ms;
      IF s.shrunk_from > 0.999 AND now_ms - s.shrunk_at < minute * ${pacing.shrinkOnceMinutes} THEN
        s.shrunk_at := NULL; s.shrunk_from := NULL;
      END IF;
    END IF;
  END LOOP;
  SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);
  levels := p.levels;
  FOR d IN 1..4 LOOP
    CONTINUE WHEN remaining[d] IS NULL OR levels[d] IS NULL;
    deep := coalesce(resets[d] > minute * ${pacing.deepResetMinutes}, false);
    most := s.most_left; most[d] := greatest(remaining[d], most[d], 0); s.most_left := most;
    share := CASE WHEN deep AND limits[d] > 0 AND remaining[d] < most[d] * ${pacing.followBelow} THEN
      (most[d] - remaining[d]) / limits[d] * minute / resets[d] * (${pacing.followAtZero} + ${pacing.followSlope} * remaining[d] / most[d]) END;
    left_by_others := s.others_left; told_at := s.others_at;
    left_by_others[d] := CASE WHEN share IS NOT NULL THEN greatest(${pacing.factorMin}, least(1, share)) END;
    told_at[d] := CASE WHEN share IS NOT NULL THEN now_ms END;
    s.others_left := left_by_others; s.others_at := told_at;
    levels[d] := least(levels[d], CASE WHEN deep THEN greatest(0, remaining[d])
      ELSE greatest(remaining[d], limiter.keep_little(p.bursts, d)) END);
  END LOOP;
  s.levels := levels; s.pools := p.pools;
  PERFORM limiter.save(s);
END $$;

CREATE OR REPLACE FUNCTION limiter.park(p_lane text, reason text, after_ms float8) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE s limiter.lane := limiter.locked(p_lane); now_ms float8 := limiter.now_ms(); parked boolean := limiter.is_parked(s, now_ms);
BEGIN
  IF NOT parked THEN s.parked_at := now_ms; END IF;
  s.parked_reason := reason;
  IF after_ms IS NULL THEN s.resumes_at := NULL;
  ELSIF NOT (parked AND s.resumes_at IS NULL) THEN
    s.resumes_at := greatest(CASE WHEN parked THEN s.resumes_at ELSE 0 END, now_ms + after_ms);
  END IF;
  PERFORM limiter.save(s);
  RETURN NOT parked;
END $$;

CREATE OR REPLACE FUNCTION limiter.resume(p_lane text, minute float8) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE s limiter.lane := limiter.locked(p_lane); now_ms float8 := limiter.now_ms(); parked boolean := limiter.is_parked(s, now_ms); p record;
BEGIN
  s.parked_at := NULL; s.parked_reason := NULL; s.resumes_at := NULL;
  IF parked THEN
    SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);
    s.levels := p.levels; s.pools := p.pools; s.at := now_ms; s.cool := least(s.cool, now_ms);
  END IF;
  PERFORM limiter.save(s);
  RETURN parked;
END $$;

CREATE OR REPLACE FUNCTION limiter.use_of(p_lane text, minute float8) RETURNS json LANGUAGE plpgsql AS $$
DECLARE s limiter.lane; now_ms float8 := limiter.now_ms(); slot int8 := floor(now_ms * ${pacing.useSlots} / minute); used float8[] := '{0,0,0}';
BEGIN
  SELECT * INTO s FROM limiter.lane WHERE name = p_lane;
  FOR i IN 0..coalesce(cardinality(s.use_at), 0) - 1 LOOP
    IF s.use_at[i + 1] > slot - ${pacing.useSlots} THEN
      FOR d IN 1..3 LOOP used[d] := used[d] + s.used[i * 3 + d]; END LOOP;
    END IF;
  END LOOP;
  RETURN json_build_object('now', now_ms, 'factor', limiter.factor(s, now_ms, minute), 'granted', coalesce(s.granted, 0), 'limited', coalesce(s.limited, 0),
    'inFlight', (SELECT count(*) FROM limiter.reservation WHERE lane = p_lane AND lease_until > now_ms),
    'binding', s.binding, 'boundAt', s.bound_at, 'firstAt', s.first_at,
    'configured', (SELECT json_agg(coalesce(s.configured[d], 0) ORDER BY d) FROM generate_series(1, 5) d),
    'learned', (SELECT json_agg(coalesce(s.learned[d], 0) ORDER BY d) FROM generate_series(1, 5) d), 'used', used,
    'left', (SELECT json_agg(CASE WHEN d < 5 THEN limiter.left_by_others(s, d, now_ms, minute) ELSE 1 END ORDER BY d) FROM generate_series(1, 5) d),
    'parked', CASE WHEN limiter.is_parked(s, now_ms)
      THEN json_build_object('reason', s.parked_reason, 'sinceMs', s.parked_at, 'resumesAtMs', coalesce(s.resumes_at, 0)) END);
END $$;
`;
