-- One atomic operation on one key in one round trip: slot/operation.rs in Lua. The layout of the bytes is in slot.rs.
-- Numbers in Lua are doubles: versions, tokens and counters are compared and added in halves of 32 bits.

local key, operation, now = KEYS[1], ARGV[1], tonumber(ARGV[2])

-- The 64-bit number at this offset as a double: exact for times until the year 287396.
local function millis(bytes, at)
  local low, high = struct.unpack('<I4I4', bytes, at)
  return high * 4294967296 + low
end

-- Whether one version is higher than another.
local function above(one, other)
  local low, high = struct.unpack('<I4I4', one)
  local other_low, other_high = struct.unpack('<I4I4', other)
  return high > other_high or (high == other_high and low > other_low)
end

local function put(lease, entry)
  local ends = now
  if entry then ends = math.max(ends, millis(entry, 25)) end
  if lease then ends = math.max(ends, millis(lease, 10)) end
  local left = ends - now
  if left <= 0 then
    redis.call('DEL', key)
  elseif left > 1e14 then
    redis.call('SET', key, (lease or '') .. (entry or ''))
  else
    redis.call('SET', key, (lease or '') .. (entry or ''), 'PX', string.format('%.0f', left + 2000))
  end
end

local lease, entry = nil, redis.call('GET', key) or ''
if #entry >= 17 and entry:byte(1) == 0x4C then
  lease, entry = entry:sub(1, 17), entry:sub(18)
  if millis(lease, 10) <= now then lease = nil end
end
if #entry < 48 or entry:byte(1) ~= 0xC1 or millis(entry, 25) <= now then entry = nil end
local live = entry and entry:byte(2) % 2 == 0

if operation == 'set' then
  local when, what, record = ARGV[3], ARGV[4], ARGV[5]
  local may = when == 'always'
    or (when == 'absent' and not live)
    or (when == 'version' and live and entry:sub(9, 16) == what)
    or (when == 'newer' and (not entry or above(record:sub(9, 16), entry:sub(9, 16))))
    or (when == 'leased' and lease and lease:sub(2, 9) == what)
  if not may then return 0 end
  put(nil, record)
  return 1
elseif operation == 'remove' then
  local mark = ARGV[3]
  if entry and above(entry:sub(9, 16), mark:sub(9, 16)) then
    mark = mark:sub(1, 8) .. entry:sub(9, 16) .. mark:sub(17)
  end
  put(nil, mark)
  return live and 1 or 0
elseif operation == 'lease' then
  if lease then return 0 end
  put(ARGV[3], entry)
  return 1
elseif operation == 'release' then
  if lease and lease:sub(2, 9) == ARGV[3] then put(nil, entry) end
  return 1
elseif operation == 'touch' then
  if not live then return 0 end
  put(lease, entry:sub(1, 16) .. ARGV[3] .. entry:sub(33))
  return 1
elseif operation == 'increment' then
  local by, fresh, step = ARGV[3], ARGV[4], tonumber(ARGV[5])
  local base = live and entry or fresh
  local at = 49 + 8 * base:byte(3)
  if #base ~= at + 7 then return redis.error_reply('ERR a counter is 8 bytes') end
  local low, high = struct.unpack('<I4i4', base, at)
  local by_low, by_high = struct.unpack('<I4i4', by)
  low, high = low + by_low, high + by_high
  if low >= 4294967296 then low, high = low - 4294967296, high + 1 end
  if high > 2147483647 then low, high = 4294967295, 2147483647 end
  if high < -2147483648 then low, high = 0, -2147483648 end
  local sum = struct.pack('<I4i4', low, high)
  local version = fresh:sub(9, 16)
  if live then
    local v_low, v_high = struct.unpack('<I4I4', entry, 9)
    v_low = v_low + step
    if v_low >= 4294967296 then v_low, v_high = v_low - 4294967296, v_high + 1 end
    local next_version = struct.pack('<I4I4', v_low, v_high)
    if above(next_version, version) then version = next_version end
  end
  put(nil, base:sub(1, 8) .. version .. base:sub(17, at - 1) .. sum)
  return sum
end
return redis.error_reply('ERR no such operation')
