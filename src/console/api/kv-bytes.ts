/**
 * Sends commands with bytes that are not text. A request is JSON, which has only texts, so such a command is wrapped
 * in a script that builds the bytes. A text key is passed as the script's key; for a binary key the script first
 * checks that the key exists, because without a declared key it may run in another partition.
 */

/** A text, a number, or bytes that are not text. */
export type Word = string | number | { readonly base64: string };

export type Words = readonly Word[];

/** Each word begins with `t` for text, or `h` for hex digits of bytes. */
const SCRIPT = [
  'local a={} for i,w in ipairs(ARGV) do a[i]=w:sub(2)',
  ' if w:sub(1,1)=="h" then a[i]=a[i]:gsub("..",function(h) return string.char(tonumber(h,16)) end) end end',
  ' local at=tonumber(table.remove(a,1))',
  ' if #KEYS==0 and redis.call("EXISTS",a[at])==0 then',
  ' return redis.error_reply("ERR this key is not here, or not within reach of the console: use a client") end',
  ' return redis.call(unpack(a))',
].join('');

/** Commands that only read, and are allowed with a read-only key. */
const READS = new Set(
  `GET GETRANGE STRLEN TYPE PTTL TTL EXISTS DUMP MEMORY OBJECT HGET HSCAN HLEN HPTTL HSTRLEN SSCAN SCARD SISMEMBER ZSCAN ZRANGE
   ZCARD ZSCORE LRANGE LINDEX LLEN XRANGE XREVRANGE XLEN XINFO XPENDING JSON.GET JSON.TYPE`.split(/\s+/),
);
/** Commands with their key after a second word. */
const CONTAINERS = new Set(['MEMORY', 'OBJECT', 'XGROUP', 'XINFO', 'JSON.DEBUG']);

/** The command as texts and numbers; one without binary words stays as it is. */
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
