/**
 * What changes documents, as scripts for the owner of their partition: each is judged and carried out in one step and
 * is one entry of the journal. Keys, in this order, beside the ones of domain/search/documents.ts:
 *
 *     b   hash   index name → bytes of its documents, ids and texts
 *     c   hash   `documents` and `bytes` of all indexes together; `names`: how many were ever created
 *
 *  DS1 `documents` is the sum of the lengths of all `d:`, and `bytes` the sum over their fields and values
 *  DS2 `o:` has the ids of `d:`
 *  DS3 a name is in `i` from its first document on until it is deleted, with or without documents
 *
 * Every answer ends with `documents` and `bytes` as they are then.
 */
import { ORDER_SCORE } from '../../domain/search/index.js';
import type { ByteString } from '../../kernel/index.js';

/** Arguments that are unpacked at once: Lua's stack takes some 8,000. */
const UNPACKED = 1000;

const SHARED = `
local D, O, NAMES, BYTES, COUNTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local call = redis.call

local function count(field) return tonumber(call('HGET', COUNTS, field) or 0) end

local function add(name, documents, bytes)
  if documents ~= 0 then call('HINCRBY', COUNTS, 'documents', documents) end
  if bytes ~= 0 then
    call('HINCRBY', COUNTS, 'bytes', bytes)
    call('HINCRBY', BYTES, name, bytes)
  end
end

local function answer(...)
  local items = {...}
  items[#items + 1] = count('documents')
  items[#items + 1] = count('bytes')
  return items
end

local function forget(documents, order, name)
  local held = call('HLEN', documents)
  if held == 0 then return end
  add(name, -held, -tonumber(call('HGET', BYTES, name) or 0))
  call('HDEL', BYTES, name)
  call('DEL', documents, order)
end

local function remove(name, ids, texts)
  local known = call('HMGET', D, unpack(ids))
  local gone, bytes, changed = {}, 0, 0
  for i = 1, #ids do
    if known[i] then
      if texts == nil or texts[i] == known[i] then
        gone[#gone + 1] = ids[i]
        bytes = bytes + #ids[i] + #known[i]
      else
        changed = changed + 1
      end
    end
  end
  if #gone > 0 then
    call('HDEL', D, unpack(gone))
    call('ZREM', O, unpack(gone))
    add(name, -#gone, -bytes)
  end
  return #gone, changed
end
`;

/**
 * ARGV: name, most documents of all indexes, most names, most bytes of one index; then ids and texts in turn, each id
 * once. The bytes are judged as the engine judges a hash: what is replaced counts still. A command that it refused
 * half-way would leave the counts wrong (DS1).
 * → what, added
 */
export const UPSERT: ByteString = `${SHARED}
local name, maxDocuments, maxNames = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local added, coming, replaced = 0, 0, 0
for from = 5, #ARGV, ${UNPACKED} do
  local ids = {}
  for at = from, math.min(from + ${UNPACKED - 2}, #ARGV - 1), 2 do ids[#ids + 1] = ARGV[at] end
  local known = call('HMGET', D, unpack(ids))
  for i = 1, #ids do
    coming = coming + #ids[i] + #ARGV[from + 2 * i - 1]
    if known[i] then replaced = replaced + #ids[i] + #known[i] else added = added + 1 end
  end
end
if added > 0 and count('documents') + added > maxDocuments then return answer('documents', added) end
if tonumber(call('HGET', BYTES, name) or 0) + coming > tonumber(ARGV[4]) then return answer('bytes', added) end
if call('HEXISTS', NAMES, name) == 0 then
  if call('HLEN', NAMES) >= maxNames then return answer('names', added) end
  call('HSET', NAMES, name, call('HINCRBY', COUNTS, 'names', 1))
end
for from = 5, #ARGV, ${UNPACKED} do
  local texts, places = {}, {}
  for at = from, math.min(from + ${UNPACKED - 2}, #ARGV - 1), 2 do
    texts[#texts + 1] = ARGV[at]
    texts[#texts + 1] = ARGV[at + 1]
    places[#places + 1] = '${ORDER_SCORE}'
    places[#places + 1] = ARGV[at]
  end
  call('HSET', D, unpack(texts))
  call('ZADD', O, unpack(places))
end
add(name, added, coming - replaced)
return answer('done', added)`;

/** ARGV: name, then ids, each once, as many as can be unpacked at once. → removed */
export const REMOVE_IDS: ByteString = `${SHARED}
local ids = {}
for at = 2, #ARGV do ids[#ids + 1] = ARGV[at] end
local removed = remove(ARGV[1], ids)
return answer(removed)`;

/**
 * ARGV: name, then ids and texts in turn, as many: removes those that still have that text.
 * → removed, how many have another
 */
export const REMOVE_UNCHANGED: ByteString = `${SHARED}
local ids, texts = {}, {}
for at = 2, #ARGV, 2 do
  ids[#ids + 1] = ARGV[at]
  texts[#texts + 1] = ARGV[at + 1]
end
return answer(remove(ARGV[1], ids, texts))`;

/** ARGV: name, from and to as ZRANGEBYLEX has them, at most so many. → removed, the last id ('' : none is left) */
export const REMOVE_RANGE: ByteString = `${SHARED}
local ids = call('ZRANGEBYLEX', O, ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
if #ids == 0 then return answer(0, '') end
local removed = remove(ARGV[1], ids)
return answer(removed, #ids < tonumber(ARGV[4]) and '' or ids[#ids])`;

/** ARGV: name. Its name stays. */
export const RESET: ByteString = `${SHARED}
forget(D, O, ARGV[1])
return answer()`;

/** KEYS 1 and 2 are what the keys of all names begin with. All names stay. */
export const RESET_ALL: ByteString = `${SHARED}
local names = call('HKEYS', NAMES)
for from = 1, #names, ${UNPACKED} do
  local keys = {}
  for at = from, math.min(from + ${UNPACKED - 1}, #names) do
    keys[#keys + 1] = D .. names[at]
    keys[#keys + 1] = O .. names[at]
  end
  call('DEL', unpack(keys))
end
call('DEL', BYTES)
if #names > 0 then call('HSET', COUNTS, 'documents', 0, 'bytes', 0) end
return answer()`;

/** ARGV: name. → 1, or 0 where there is none */
export const DELETE_NAME: ByteString = `${SHARED}
forget(D, O, ARGV[1])
return answer(call('HDEL', NAMES, ARGV[1]))`;

/** ARGV: name, new name, `1` to delete what has the new name; KEYS 6 and 7: its documents and order. → what */
export const RENAME: ByteString = `${SHARED}
local from, to = ARGV[1], ARGV[2]
local number = call('HGET', NAMES, from)
if not number then return answer('missing') end
if from == to then return answer('done') end
if call('HEXISTS', NAMES, to) == 1 then
  if ARGV[3] ~= '1' then return answer('taken') end
  forget(KEYS[6], KEYS[7], to)
end
if call('EXISTS', D) == 1 then
  call('RENAME', D, KEYS[6])
  call('RENAME', O, KEYS[7])
  call('HSET', BYTES, to, call('HGET', BYTES, from))
  call('HDEL', BYTES, from)
end
call('HDEL', NAMES, from)
call('HSET', NAMES, to, number)
return answer('done')`;
