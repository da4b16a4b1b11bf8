/**
 * Commands with bytes that are no text. A request is JSON, which has texts only: such a command goes inside a script that puts
 * the bytes together. Its key is named where it is a text; a key that is none is looked for first, as a script that does not
 * name its key may be asked in another part of the database.
 */
import type { Words } from './kv.js';

/** Each word begins with `t`, text, or `h`, hex digits of bytes. */
const SCRIPT = [
  'local a={} for i,w in ipairs(ARGV) do a[i]=w:sub(2)',
  ' if w:sub(1,1)=="h" then a[i]=a[i]:gsub("..",function(h) return string.char(tonumber(h,16)) end) end end',
  ' local at=tonumber(table.remove(a,1))',
  ' if #KEYS==0 and redis.call("EXISTS",a[at])==0 then',
  ' return redis.error_reply("ERR this key is not here, or not within reach of the console: use a client") end',
  ' return redis.call(unpack(a))',
].join('');

/** What looks only, and so may be asked with a read-only key. */
const READS = new Set(
  `GET GETRANGE STRLEN TYPE PTTL TTL EXISTS DUMP MEMORY OBJECT HGET HSCAN HLEN HPTTL HSTRLEN SSCAN SCARD SISMEMBER ZSCAN ZRANGE
   ZCARD ZSCORE LRANGE LINDEX LLEN XRANGE XREVRANGE XLEN XINFO XPENDING JSON.GET JSON.TYPE`.split(/\s+/),
);
/** Their key stands behind a second word. */
const CONTAINERS = new Set(['MEMORY', 'OBJECT', 'XGROUP', 'XINFO', 'JSON.DEBUG']);

/** The command as texts and numbers; without such bytes it stays as it is. */
export function asTexts(words: Words): readonly (string | number)[] {
  if (!words.some(isBytes)) return words as readonly (string | number)[];
  const name = String(words[0]).toUpperCase();
  const at = CONTAINERS.has(name) ? 2 : 1;
  const key = words[at];
  const keys = key === undefined || isBytes(key) ? [] : [key];
  const script = READS.has(name) ? 'EVAL_RO' : 'EVAL';
  return [script, SCRIPT, keys.length, ...(keys as string[]), `t${at + 1}`, ...words.map(marked)];
}

function isBytes(word: Words[number]): word is { readonly base64: string } {
  return typeof word === 'object';
}

function marked(word: Words[number]): string {
  if (!isBytes(word)) return `t${word}`;
  const hex = Array.from(atob(word.base64), (unit) => unit.charCodeAt(0).toString(16).padStart(2, '0'));
  return `h${hex.join('')}`;
}
