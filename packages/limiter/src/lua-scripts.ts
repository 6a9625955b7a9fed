import { luaLane } from "./lua-lane.ts";
import { pacing } from "./pacing.ts";

/** ARGV: 2–6 limits, empty where absent. */
export const luaConfigure = `${luaLane}
refresh()
if s.at then keepLevels() end
for d = 1, 5 do
  if ARGV[1 + d] == '' then drop('c' .. d) else put('c' .. d, tonumber(ARGV[1 + d])) end
end
put('configured', '1')
save()
`;

const luaGiveBack = `
local function giveBack(input, output, wasSent)
  local text = redis.call('HGET', KEYS[6], ARGV[2])
  if not text then return end
  local kept = cjson.decode(text)
  redis.call('HDEL', KEYS[6], ARGV[2]); redis.call('ZREM', KEYS[7], ARGV[2]); redis.call('ZREM', KEYS[8], ARGV[2])
  refresh()
  local more = {wasSent and 0 or -1, (input or kept[1]) - kept[1], (output or kept[2]) - kept[2]}
  more[4] = more[2] + more[3]
  for d = 1, 4 do
    if bases[d] and wasSent and more[d] < 0 then pools[d] = pools[d] - more[d]
    elseif bases[d] then levels[d] = math.min(bursts[d], levels[d] - more[d]) end
  end
  addUse(more[1], more[2], more[3])
  if wasSent then
    local held = now - kept[3]
    put('hold', num('hold') and num('hold') + ${pacing.holdWeight} * (held - num('hold')) or held)
  else put('granted', tostring((num('granted') or 1) - 1)) end
  keepLevels(); save()
end
`;

/** ARGV: 2 id, 3 input tokens, 4 output tokens; empty where unknown. */
export const luaSettle = `${luaLane}${luaGiveBack}
giveBack(tonumber(ARGV[3]), tonumber(ARGV[4]), true)
`;

/** ARGV: 2 id. */
export const luaCancel = `${luaLane}${luaGiveBack}
dropTicket(ARGV[2], 'gone')
giveBack(0, 0, false)
save()
`;

/** ARGV: 2 lease ms, 3 reservation ms, then ids. */
export const luaRenew = `${luaLane}
for i = 4, #ARGV do
  if redis.call('HEXISTS', KEYS[6], ARGV[i]) == 1 then
    redis.call('ZADD', KEYS[8], now + tonumber(ARGV[2]), ARGV[i])
    redis.call('ZADD', KEYS[7], now + tonumber(ARGV[3]), ARGV[i])
  end
end
keepWhileUsed(tonumber(ARGV[3]) + 60000)
`;

const luaKeepLittle = `
local function keepLittle(d) return d == 1 and math.max(1, bursts[d] * ${pacing.keepShare}) or bursts[d] * ${pacing.keepShare} end
`;

/** ARGV: 2 milliseconds, 3 '1' to shrink. */
export const luaCool = `${luaLane}${luaKeepLittle}
refresh()
local untilMs = math.max(num('cool') or 0, now + tonumber(ARGV[2]))
if ARGV[3] == '1' then
  put('limited', tostring((num('limited') or 0) + 1))
  local once = minute * ${pacing.shrinkOnceMinutes}
  for d = 1, 4 do if bases[d] then levels[d] = math.min(levels[d], keepLittle(d)) end end
  -- A limit that the vendor has just told to be lower explains the 429: once is enough.
  local told = num('loweredAt') and now - num('loweredAt') < once
  if not told and (not num('shrunkAt') or now - num('shrunkAt') > once) then
    put('shrunkFrom', factor()); put('shrunkAt', untilMs)
  end
end
keepLevels()
put('cool', untilMs)
save()
`;

/** ARGV: for each dimension limit, remaining and milliseconds to the reset; empty where unknown. */
export const luaLearn = `${luaLane}${luaKeepLittle}
refresh()
for d = 1, 4 do
  local limit = tonumber(ARGV[3 * d - 1])
  -- Where input and output are counted apart, one vendor's "tokens" repeats the tighter of the two.
  local apart = d == 4 and not s.c4 and (s.c2 or s.c3 or s.h2 or s.h3)
  if limit and limit > 0 and not apart then
    local old = base(d)
    put('h' .. d, limit)
    local new = base(d)
    if old ~= new then drop('m' .. d) end
    if old and new > old then drop('shrunkAt'); drop('shrunkFrom') end
    if old and new < old * 0.9 then
      put('loweredAt', now)
      local at = num('shrunkAt')
      if at and num('shrunkFrom') > 0.999 and now - at < minute * ${pacing.shrinkOnceMinutes} then
        drop('shrunkAt'); drop('shrunkFrom')
      end
    end
  end
end
keepLevels(); refresh()
for d = 1, 4 do
  local remaining, reset = tonumber(ARGV[3 * d]), tonumber(ARGV[3 * d + 1])
  if remaining and bases[d] then
    local limit, deep = tonumber(ARGV[3 * d - 1]), reset and reset > minute * ${pacing.deepResetMinutes}
    -- The most ever left tells the bucket's capacity, which no header does.
    local most = math.max(remaining, num('m' .. d) or 0)
    put('m' .. d, most)
    if deep and limit and limit > 0 and remaining < most * ${pacing.followBelow} then
      local refill = (most - remaining) / limit * minute / reset
      local share = refill * (${pacing.followAtZero} + ${pacing.followSlope} * remaining / most)
      put('g' .. d, math.max(${pacing.factorMin}, math.min(1, share))); put('gAt' .. d, now)
    elseif s['g' .. d] then drop('g' .. d); drop('gAt' .. d) end
    levels[d] = math.min(levels[d], deep and math.max(0, remaining) or math.max(remaining, keepLittle(d)))
  end
end
keepLevels(); save()
`;

/** ARGV: 2 reason, 3 milliseconds or empty. Answers 1 where this call parked the lane. */
export const luaPark = `${luaLane}
local resumesAt = num('resumesAt')
local parked = s.parkedAt and not (resumesAt and resumesAt <= now)
if not parked then put('parkedAt', now) end
put('parkedReason', ARGV[2])
if ARGV[3] == '' then drop('resumesAt')
elseif not (parked and not resumesAt) then put('resumesAt', math.max(parked and resumesAt or 0, now + tonumber(ARGV[3]))) end
save()
return parked and 0 or 1
`;

/** Answers 1 where the lane was parked. */
export const luaResume = `${luaLane}
local resumesAt = num('resumesAt')
local parked = s.parkedAt and not (resumesAt and resumesAt <= now)
drop('parkedAt'); drop('parkedReason'); drop('resumesAt')
-- Told to go on: what was waited for is over. The levels have not grown meanwhile.
if parked then refresh(); keepLevels(); put('cool', math.min(num('cool') or 0, now)) end
save()
return parked and 1 or 0
`;

/** Answers the lane's use as JSON; changes nothing. */
export const luaUse = `${luaLane}
refresh()
local out = {now = now, factor = factor(), granted = num('granted') or 0, limited = num('limited') or 0,
  inFlight = redis.call('ZCOUNT', KEYS[8], '(' .. now, '+inf'), binding = num('binding'), boundAt = num('boundAt'), firstAt = num('firstAt'),
  configured = {}, learned = {}, left = {1, 1, 1, 1, 1}, used = {0, 0, 0}}
for d = 1, 5 do out.configured[d] = num('c' .. d) or 0; out.learned[d] = num('h' .. d) or 0; if d < 5 then out.left[d] = left(d) end end
local slot = math.floor(now * ${pacing.useSlots} / minute)
for i = 0, ${pacing.useSlots} do
  if s['u' .. i] then
    local kept = cjson.decode(s['u' .. i])
    if kept[1] > slot - ${pacing.useSlots} then for d = 1, 3 do out.used[d] = out.used[d] + kept[1 + d] end end
  end
end
local resumesAt = num('resumesAt')
if s.parkedAt and not (resumesAt and resumesAt <= now) then
  out.parked = {reason = s.parkedReason, sinceMs = num('parkedAt'), resumesAtMs = resumesAt or 0}
end
return cjson.encode(out)
`;
