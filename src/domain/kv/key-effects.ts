/**
 * The changes of keys that an effect makes, for readers of journals.
 *
 * Removals differ in their words, and any Redis can replay all of them: `DEL key …` after a command, `UNLINK key` for an
 * expired key, `UNLINK key key` for an evicted one. Releases before format level 5 wrote `DEL` for all.
 */
import type { ByteString } from '../../kernel/index.js';
import { type CommandFamily, isWrite, keysOf } from './command-description.js';
import { EFFECTS, findCommand } from './commands.js';

export const KEY_EVENTS = [
  'set',
  'del',
  'expired',
  'evicted',
  'expire',
  'field',
  'fdel',
  'push',
  'pop',
  'member',
  'score',
  'add',
  'stream',
  'json',
  'array',
  'vector',
  'sketch',
  'flush',
] as const;
export type KeyEvent = (typeof KEY_EVENTS)[number];

export interface KeyEffect {
  /** Undefined: all keys, by `FLUSHALL`. */
  readonly key: ByteString | undefined;
  readonly event: KeyEvent;
  /** The effect, reduced to this key where it names several independent ones. */
  readonly command: readonly ByteString[];
}

const BY_FAMILY: Partial<Record<CommandFamily, KeyEvent>> = {
  string: 'set',
  bitmap: 'set',
  hyperloglog: 'set',
  hash: 'field',
  list: 'push',
  set: 'member',
  'sorted-set': 'score',
  geo: 'score',
  stream: 'stream',
  json: 'json',
  array: 'array',
  vector: 'vector',
  bloom: 'sketch',
  cuckoo: 'sketch',
  'count-min': 'sketch',
  'top-k': 'sketch',
  't-digest': 'sketch',
};

const BY_NAME: Readonly<Record<string, KeyEvent>> = {
  RENAME: 'set',
  COPY: 'set',
  RESTORE: 'set',
  PEXPIREAT: 'expire',
  PERSIST: 'expire',
  HDEL: 'fdel',
  LPOP: 'pop',
  RPOP: 'pop',
  LREM: 'pop',
  LTRIM: 'pop',
  XADD: 'add',
};

const NONE: readonly KeyEffect[] = [];

/** In the order of the words. Effects that change no key, such as parameters and messages for the queue, give none. */
export function keyEffects(words: readonly ByteString[]): readonly KeyEffect[] {
  const spec = findCommand(words) ?? EFFECTS.find(words);
  if (spec === undefined || !isWrite(spec)) return NONE;
  switch (spec.name) {
    case 'DEL':
      return words.slice(1).map((key) => ({ key, event: 'del', command: [spec.name, key] }));
    case 'UNLINK':
      return [removal(words)];
    case 'MSET':
      return pairs(words);
    case 'RENAME':
      return [
        { key: words[1], event: 'del', command: words },
        { key: words[2], event: 'set', command: words },
      ];
    case 'COPY':
      return [{ key: words[2], event: 'set', command: words }];
    case 'LMOVE':
      return [
        { key: words[1], event: 'pop', command: words },
        { key: words[2], event: 'push', command: words },
      ];
    case 'FLUSHALL':
    case 'FLUSHDB':
      return [{ key: undefined, event: 'flush', command: words }];
  }
  const event = BY_NAME[spec.name] ?? BY_FAMILY[spec.family];
  return event === undefined ? NONE : keysOf(spec, words).map((key) => ({ key, event, command: words }));
}

function removal(words: readonly ByteString[]): KeyEffect {
  const [, key, again] = words;
  return { key, event: again === undefined ? 'expired' : 'evicted', command: ['DEL', key as ByteString] };
}

function pairs(words: readonly ByteString[]): KeyEffect[] {
  const found: KeyEffect[] = [];
  for (let at = 1; at + 1 < words.length; at += 2) {
    const key = words[at] as ByteString;
    found.push({ key, event: 'set', command: ['SET', key, words[at + 1] as ByteString] });
  }
  return found;
}
