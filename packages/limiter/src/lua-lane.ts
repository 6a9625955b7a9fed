import { pacing } from "./pacing.ts";

/**
 * What every script of a lane begins with: the state, the time, and the levels brought up to now.
 *
 * KEYS: 1 state, 2 tickets by turn, 3 tickets by due time, 4 tickets' contents, 5 tenants' turns, 6 reservations, 7 their
 * expiry, 8 leases. ARGV[1]: milliseconds of a minute. Dimensions: 1 requests, 2 input, 3 output, 4 all tokens.
 */
export const luaLane = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local minute = tonumber(ARGV[1])
local s = {}
do
  local raw = redis.call('HGETALL', KEYS[1])
  for i = 1, #raw, 2 do s[raw[i]] = raw[i + 1] end
end
local changed = {}
local function num(field) return s[field] and tonumber(s[field]) end
local function put(field, value)
  s[field] = type(value) == 'number' and string.format('%.6f', value) or value
  changed[field] = true
end
local function drop(field) s[field] = nil; changed[field] = true end

local function factor()
  local at, from = num('shrunkAt'), num('shrunkFrom')
  if not at then return 1 end
  local minutes = math.max(0, now - at) / minute
  local plateau = (${1 - pacing.shrinkTo} * from / ${pacing.growth}) ^ (1 / 3)
  local f = from + ${pacing.growth} * (minutes - plateau) ^ 3
  return math.min(1, math.max(${pacing.factorMin}, f))
end
local function base(d)
  local configured, learned = num('c' .. d), num('h' .. d)
  if configured and learned then return math.min(configured, learned) end
  return configured or learned
end

-- Share of a limit that others of the same key leave to us, as the last reply told; 1 where none told.
local function left(d)
  local share, at = num('g' .. d), num('gAt' .. d)
  return share and now - at < minute * ${pacing.followMinutes} and share or 1
end

-- Refunds come from short replies, which end first; the debts of the long ones of the same moment come later. Given back
-- over the mean time of a request the two meet, and a lane that starts or speeds up does not overshoot.
local bases, rates, bursts, levels, pools = {}, {}, {}, {}, {}
local function refresh()
  local f = factor()
  local from = math.max(num('at') or now, num('cool') or 0)
  local elapsed = math.max(0, now - from)
  local released = 1 - math.exp(-math.max(0, now - (num('at') or now)) / math.max(1, num('hold') or 1))
  for d = 1, 4 do
    local b = base(d)
    bases[d] = b
    if b then
      rates[d] = b * math.min(f, left(d)) * ${pacing.refillShare} / minute
      bursts[d] = b * f * ${pacing.burstShare}
      if d == 1 then bursts[d] = 1 + math.max(0, b - ${pacing.burstFromRequests}) * f * ${pacing.burstShare} end
      local level = num('v' .. d)
      local pool = num('p' .. d) or 0
      pools[d] = pool * (1 - released)
      if level then level = level + rates[d] * elapsed + pool * released
      elseif d == 1 then level = 1
      else level = bursts[d] * ${pacing.startShare} end
      levels[d] = math.min(bursts[d], level)
    end
  end
end
local function keepLevels()
  put('at', now)
  for d = 1, 4 do
    if bases[d] then put('v' .. d, levels[d]); put('p' .. d, pools[d])
    elseif s['v' .. d] then drop('v' .. d); drop('p' .. d) end
  end
end
local function save()
  local pairsToSet, toDelete = {}, {}
  for field in pairs(changed) do
    if s[field] ~= nil then pairsToSet[#pairsToSet + 1] = field; pairsToSet[#pairsToSet + 1] = s[field]
    else toDelete[#toDelete + 1] = field end
  end
  if #pairsToSet > 0 then redis.call('HSET', KEYS[1], unpack(pairsToSet)) end
  if #toDelete > 0 then redis.call('HDEL', KEYS[1], unpack(toDelete)) end
  redis.call('PEXPIRE', KEYS[1], 2592000000)
end

local function addUse(requests, input, output)
  local slot = math.floor(now * ${pacing.useSlots} / minute)
  local field = 'u' .. (slot % ${pacing.useSlots + 1})
  local sum = {0, 0, 0}
  if s[field] then
    local kept = cjson.decode(s[field])
    if kept[1] == slot then sum = {kept[2], kept[3], kept[4]} end
  end
  put(field, cjson.encode({slot, sum[1] + requests, sum[2] + input, sum[3] + output}))
end

local function dropTicket(id, servedOrGone)
  local text = redis.call('HGET', KEYS[4], id)
  if not text then return end
  local ticket = cjson.decode(text)
  redis.call('HDEL', KEYS[4], id); redis.call('ZREM', KEYS[2], id); redis.call('ZREM', KEYS[3], id)
  local left = redis.call('ZCARD', KEYS[2])
  for d = 1, 4 do put('q' .. d, left == 0 and 0 or math.max(0, (num('q' .. d) or 0) - ticket[2 + d])) end
  -- A turn that nobody took is given back to its tenant, or a cancelled sweep would pay for it in its next one.
  if servedOrGone == 'gone' and redis.call('HEXISTS', KEYS[5], ticket[1]) == 1 then
    redis.call('HINCRBYFLOAT', KEYS[5], ticket[1], -ticket[2])
  end
end
local function prune()
  redis.call('ZREMRANGEBYSCORE', KEYS[8], '-inf', now)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[7], '-inf', now, 'LIMIT', 0, 20)) do
    redis.call('HDEL', KEYS[6], id); redis.call('ZREM', KEYS[7], id)
  end
  local lost = now - minute * ${pacing.ticketMinutes}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', lost, 'LIMIT', 0, 20)) do dropTicket(id, 'gone') end
end
local function keepWhileUsed(ms)
  for k = 2, 8 do redis.call('PEXPIRE', KEYS[k], ms) end
end
`;
