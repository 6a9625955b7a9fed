import { pacing } from "./pacing.ts";

/** The twin of `luaReserve`, line by line; see there for why. */
export const sqlReserve = `
CREATE OR REPLACE FUNCTION limiter.need_of(d int, cost float8, burst float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN d = 1 THEN cost ELSE least(cost, burst * ${pacing.needShare}) END $$;

CREATE OR REPLACE FUNCTION limiter.reserve(
  p_lane text, minute float8, p_id text, p_input float8, p_output float8, p_tenant text, p_weight float8,
  lease_ms float8, reservation_ms float8, p_configured float8[],
  OUT kind text, OUT ms float8, OUT bound int, OUT amount float8, OUT cap float8
) LANGUAGE plpgsql AS $$
DECLARE
  s limiter.lane := limiter.locked(p_lane); now_ms float8 := limiter.now_ms();
  cost float8[] := ARRAY[1, p_input, p_output, p_input + p_output];
  p record; waiting int := 0; ahead int := 0; awake int := 0; my_turn float8; ticketed boolean; share float8 := 0;
  overflow_ms float8; wait float8 := 0; wait_all float8 := 0; mean float8; need float8; each float8; busy int;
  kept float8; first_cost float8[]; grace float8 := minute * ${pacing.graceMinutes}; from_ms float8; to_ms float8; whole float8 := minute * ${pacing.wholeWaitMinutes}; more float8[];
BEGIN
  ms := 0;
  IF s.configured IS NULL THEN s.configured := p_configured; END IF;
  UPDATE limiter.reservation SET lease_until = now_ms + lease_ms WHERE lane = p_lane AND id = p_id AND expires > now_ms;
  IF FOUND THEN kind := 'granted'; RETURN; END IF;
  s := limiter.prune(s, now_ms, minute);
  FOR d IN 2..4 LOOP
    cap := coalesce(s.configured[d], s.learned[d]);
    IF cost[d] > cap THEN kind := 'never'; bound := d; amount := cost[d]; RETURN; END IF;
  END LOOP;
  IF limiter.is_parked(s, now_ms) THEN
    kind := 'wait'; bound := 7; PERFORM limiter.save(s);
    ms := least(coalesce(s.resumes_at - now_ms, minute / 2), minute * ${pacing.longestWaitMinutes});
    RETURN;
  END IF;
  s.parked_at := NULL; s.parked_reason := NULL; s.resumes_at := NULL;
  SELECT * INTO p FROM limiter.refreshed(s, now_ms, minute);

  SELECT count(*) INTO waiting FROM limiter.ticket WHERE lane = p_lane;
  FOR d IN 1..4 LOOP share := greatest(share, cost[d] / p.bases[d]); END LOOP;
  IF share = 0 THEN share := 1 / coalesce(s.configured[5], 1); END IF;
  share := share / p_weight;
  SELECT turn INTO my_turn FROM limiter.ticket WHERE lane = p_lane AND id = p_id;
  ticketed := FOUND;
  IF NOT ticketed THEN
    my_turn := greatest(s.virtual, (SELECT turn FROM limiter.tenant WHERE lane = p_lane AND tenant = p_tenant));
  END IF;
  IF waiting > 0 THEN
    IF ticketed THEN SELECT count(*) INTO ahead FROM limiter.ticket WHERE lane = p_lane AND (turn, id) < (my_turn, p_id);
    ELSE SELECT count(*) INTO ahead FROM limiter.ticket WHERE lane = p_lane AND turn <= my_turn; END IF;
  END IF;

  IF ahead > 0 THEN
    FOR d IN 1..4 LOOP overflow_ms := least(overflow_ms, (p.bursts[d] - p.levels[d]) / p.rates[d]); END LOOP;
    from_ms := now_ms - grace; to_ms := now_ms + coalesce(overflow_ms + grace, 0);
    SELECT least(ahead, count(*)) INTO awake FROM limiter.ticket
    WHERE lane = p_lane AND id <> p_id AND due BETWEEN from_ms AND to_ms;
    IF awake > 0 THEN
      SELECT CASE WHEN t.due BETWEEN from_ms AND to_ms THEN t.cost END INTO first_cost
      FROM limiter.ticket t WHERE t.lane = p_lane ORDER BY t.turn, t.id LIMIT 1;
    END IF;
  END IF;

  FOR d IN 1..4 LOOP
    CONTINUE WHEN p.bases[d] IS NULL;
    mean := CASE WHEN waiting > 0 THEN s.queued[d] / waiting ELSE 0 END;
    need := limiter.need_of(d, cost[d], p.bursts[d]);
    kept := CASE WHEN first_cost IS NULL THEN awake * mean
      ELSE limiter.need_of(d, first_cost[d], p.bursts[d]) + (awake - 1) * mean END;
    each := (need + greatest(kept, ahead * mean) - p.levels[d]) / p.rates[d];
    wait_all := greatest(wait_all, each);
    IF need + kept - p.levels[d] > 0.000001 AND (bound IS NULL OR each > wait) THEN wait := each; bound := d; END IF;
  END LOOP;
  IF s.configured[5] IS NOT NULL THEN
    SELECT count(*) INTO busy FROM limiter.reservation WHERE lane = p_lane AND lease_until > now_ms;
    IF busy + awake >= s.configured[5] THEN
      each := least(minute / 12, greatest(minute / 1200, (ahead + 1) * coalesce(s.hold, minute / 6) / s.configured[5] / 2));
      IF bound IS NULL OR each > wait THEN wait := each; bound := 5; END IF;
    END IF;
  END IF;
  IF s.cool > now_ms THEN bound := 6; END IF;

  s.at := now_ms;
  IF bound IS NOT NULL THEN
    kind := 'wait';
    ms := greatest(1, wait);
    IF bound < 5 AND ms > whole THEN ms := greatest(whole, ms / 2); END IF;
    IF s.cool > now_ms THEN ms := s.cool - now_ms + greatest(1, CASE WHEN wait_all > whole THEN wait_all / 2 ELSE wait_all END); END IF;
    ms := least(ms, greatest(minute * ${pacing.longestWaitMinutes}, s.cool - now_ms));
    IF ticketed THEN UPDATE limiter.ticket SET due = now_ms + ms WHERE lane = p_lane AND id = p_id;
    ELSE
      INSERT INTO limiter.ticket VALUES (p_lane, p_id, my_turn, now_ms + ms, p_tenant, share, cost);
      PERFORM limiter.set_turn(p_lane, p_tenant, my_turn + share, now_ms);
      more := s.queued;
      FOR d IN 1..4 LOOP more[d] := CASE WHEN waiting > 0 THEN more[d] ELSE 0 END + cost[d]; END LOOP;
      s.queued := more;
    END IF;
    s.binding := bound; s.bound_at := now_ms; s.levels := p.levels; s.pools := p.pools;
    PERFORM limiter.save(s);
    RETURN;
  END IF;

  IF ticketed THEN s := limiter.drop_ticket(s, p_id, false);
  ELSE PERFORM limiter.set_turn(p_lane, p_tenant, my_turn + share, now_ms); END IF;
  s.virtual := greatest(s.virtual, my_turn);
  more := p.levels;
  FOR d IN 1..4 LOOP more[d] := more[d] - cost[d]; END LOOP;
  s.levels := more; s.pools := p.pools;
  INSERT INTO limiter.reservation VALUES (p_lane, p_id, p_input, p_output, now_ms, now_ms + reservation_ms, now_ms + lease_ms);
  s.granted := s.granted + 1;
  s.first_at := coalesce(s.first_at, now_ms);
  PERFORM limiter.save(limiter.add_use(s, now_ms, minute, cost));
  kind := 'granted';
END $$;

CREATE OR REPLACE FUNCTION limiter.set_turn(p_lane text, p_tenant text, p_turn float8, now_ms float8) RETURNS void LANGUAGE sql AS $$
  INSERT INTO limiter.tenant VALUES (p_lane, p_tenant, p_turn, now_ms)
  ON CONFLICT (lane, tenant) DO UPDATE SET turn = excluded.turn, used_at = excluded.used_at
$$;
`;
