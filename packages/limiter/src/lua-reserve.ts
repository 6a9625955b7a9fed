import { luaLane } from "./lua-lane.ts";
import { pacing } from "./pacing.ts";

/**
 * ARGV: 2 id, 3 input tokens, 4 output tokens, 5 tenant, 6 weight, 7 lease ms, 8 reservation ms, 9–13 the limits that this
 * process configured, for a server that lost its memory. Answers {kind, milliseconds, dimension, amount, limit}.
 */
export const luaReserve = `${luaLane}
if not s.configured then
  for d = 1, 5 do if ARGV[8 + d] ~= '' then put('c' .. d, tonumber(ARGV[8 + d])) end end
  put('configured', '1')
end
local id, input, output = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local cost = {1, input, output, input + output}
local leaseMs, reservationMs = tonumber(ARGV[7]), tonumber(ARGV[8])
prune()
if redis.call('HEXISTS', KEYS[6], id) == 1 then
  redis.call('ZADD', KEYS[8], now + leaseMs, id)
  return {'granted', '0', '', '', ''}
end
for d = 2, 4 do
  local cap = num('c' .. d) or num('h' .. d)
  if cap and cost[d] > cap then return {'never', '0', tostring(d), tostring(cost[d]), tostring(cap)} end
end
if s.parkedAt then
  local resumesAt = num('resumesAt')
  if not resumesAt or resumesAt > now then
    local left = resumesAt and resumesAt - now or minute / 2
    return {'wait', tostring(math.min(left, minute * ${pacing.longestWaitMinutes})), '7', '', ''}
  end
  drop('parkedAt'); drop('parkedReason'); drop('resumesAt')
end
refresh()

local waiting = redis.call('ZCARD', KEYS[2])
local turn = tonumber(redis.call('ZSCORE', KEYS[2], id) or '')
local ticketed = turn ~= nil
local virtual = num('virtual') or 0
local others = ticketed and waiting - 1 or waiting
local share = 0
for d = 1, 4 do if bases[d] then share = math.max(share, cost[d] / bases[d]) end end
if share == 0 then share = 1 / (num('c5') or 1) end
share = share / tonumber(ARGV[6])
if not turn then turn = math.max(virtual, tonumber(redis.call('HGET', KEYS[5], ARGV[5]) or '0')) end
local ahead = 0
if others > 0 then
  if ticketed then ahead = redis.call('ZRANK', KEYS[2], id)
  else ahead = redis.call('ZCOUNT', KEYS[2], '-inf', string.format('%.12f', turn)) end
end

local function needOf(d, c) return d == 1 and c or math.min(c, bursts[d] * ${pacing.needShare}) end
-- Kept for those ahead who are awake before the bucket runs over; a sleeper never makes capacity go to waste. The first
-- counts with its own cost, or small requests would pass a large one for ever; the others with the mean.
local awake, first = 0, nil
if ahead > 0 then
  local overflowMs = nil
  for d = 1, 4 do
    if bases[d] then
      local ms = (bursts[d] - levels[d]) / rates[d]
      if not overflowMs or ms < overflowMs then overflowMs = ms end
    end
  end
  local grace = minute * ${pacing.graceMinutes}
  local from, to = now - grace, now + (overflowMs and overflowMs + grace or 0)
  local function isAwake(ticket)
    local due = tonumber(redis.call('ZSCORE', KEYS[3], ticket) or '')
    return due and due >= from and due <= to
  end
  awake = redis.call('ZCOUNT', KEYS[3], from, to)
  if ticketed and isAwake(id) then awake = awake - 1 end
  awake = math.min(ahead, awake)
  local head = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if awake > 0 and isAwake(head) then first = cjson.decode(redis.call('HGET', KEYS[4], head)) end
end

local wait, binding, waitAll = 0, nil, 0
local cool = num('cool') or 0
for d = 1, 4 do
  if bases[d] then
    local mean = waiting > 0 and (num('q' .. d) or 0) / waiting or 0
    local need = needOf(d, cost[d])
    local kept = first and needOf(d, first[2 + d]) + (awake - 1) * mean or awake * mean
    local short = need + kept - levels[d]
    local ms = (need + math.max(kept, ahead * mean) - levels[d]) / rates[d]
    if ms > waitAll then waitAll = ms end
    if short > 0.000001 and (not binding or ms > wait) then wait = ms; binding = d end
  end
end
local slots = num('c5')
if slots then
  local busy = redis.call('ZCARD', KEYS[8])
  if busy + awake >= slots then
    local hold = num('hold') or minute / 6
    local ms = math.min(minute / 12, math.max(minute / 1200, (ahead + 1) * hold / slots / 2))
    if not binding or ms > wait then wait = ms; binding = 5 end
  end
end
if cool > now then wait = cool - now + math.max(0, waitAll); binding = 6 end

if binding then
  local told = math.max(1, wait)
  local whole = minute * ${pacing.wholeWaitMinutes}
  if binding < 5 and told > whole then told = math.max(whole, told / 2) end
  -- Nobody may start before a cooldown's end, so that much is told whole.
  if cool > now then told = cool - now + math.max(1, waitAll > whole and waitAll / 2 or waitAll) end
  told = math.min(told, math.max(minute * ${pacing.longestWaitMinutes}, cool - now))
  if not ticketed then
    redis.call('ZADD', KEYS[2], string.format('%.12f', turn), id)
    redis.call('HSET', KEYS[5], ARGV[5], string.format('%.12f', turn + share))
    redis.call('HSET', KEYS[4], id, cjson.encode({ARGV[5], share, cost[1], cost[2], cost[3], cost[4]}))
    for d = 1, 4 do put('q' .. d, (waiting > 0 and num('q' .. d) or 0) + cost[d]) end
  end
  redis.call('ZADD', KEYS[3], now + told, id)
  put('binding', tostring(binding)); put('boundAt', now)
  keepLevels(); save(); keepWhileUsed(math.ceil(told) + reservationMs + 60000)
  return {'wait', tostring(told), tostring(binding), '', ''}
end

if ticketed then dropTicket(id, 'served')
else redis.call('HSET', KEYS[5], ARGV[5], string.format('%.12f', turn + share)) end
put('virtual', string.format('%.12f', math.max(virtual, turn)))
for d = 1, 4 do if bases[d] then levels[d] = levels[d] - cost[d] end end
redis.call('HSET', KEYS[6], id, cjson.encode({input, output, now}))
redis.call('ZADD', KEYS[7], now + reservationMs, id)
redis.call('ZADD', KEYS[8], now + leaseMs, id)
put('granted', tostring((num('granted') or 0) + 1))
if not s.firstAt then put('firstAt', now) end
addUse(1, input, output)
keepLevels(); save(); keepWhileUsed(reservationMs + 60000)
return {'granted', '0', '', '', ''}
`;
