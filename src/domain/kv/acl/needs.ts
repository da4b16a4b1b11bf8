/**
 * What a command needs of the keys and channels it names. The table's rows tell where keys are and what is done with
 * them: LPUSH inserts without showing anything, so it needs writing alone; EXISTS shows nothing of a value, so it is
 * content with any permission.
 * Source: the key specifications that COMMAND INFO of Redis 8 gives (test/differential/acl.test.ts compares).
 */
import type { ByteString } from '../../../kernel/index.js';
import { accessedKeysOf, type CommandSpec } from '../command-spec.js';
import { keyUseOf } from '../key-use.js';

/** Bits of what is permitted, or needed. */
export const READ = 1;
export const WRITE = 2;

const BITS = { read: READ, write: WRITE, both: READ | WRITE } as const;

export interface WantedKey {
  readonly key: ByteString;
  /** Among the words. */
  readonly position: number;
  /** Bits; 0: any permission will do. */
  readonly access: number;
}

export function wantedKeysOf(spec: CommandSpec, words: readonly ByteString[]): WantedKey[] {
  if (spec.keys.kind === 'none') return [];
  const { keyNeeds } = spec;
  const needs = typeof keyNeeds === 'function' ? keyNeeds(words) : keyNeeds;
  return accessedKeysOf(spec, words).map((found) => ({
    key: found.key,
    position: found.position,
    access: needs === undefined ? bitsOfUse(keyUseOf(spec, found)) : BITS[needs],
  }));
}

const bitsByUse = new Map<string, number>();

/** `access` shows something of the value; `update`, `insert` and `delete` change it. */
function bitsOfUse(use: string): number {
  let bits = bitsByUse.get(use);
  if (bits === undefined) {
    bits = (use.includes('access') ? READ : 0) | (/update|insert|delete/.test(use) ? WRITE : 0);
    bitsByUse.set(use, bits);
  }
  return bits;
}

export interface WantedChannel {
  readonly channel: ByteString;
  readonly isPattern: boolean;
  readonly position: number;
}

/** Ending a subscription needs no permission. */
export function channelsOf({ channels: which }: CommandSpec, words: readonly ByteString[]): WantedChannel[] {
  if (which === undefined) return [];
  const channels = which === 'first' ? words.slice(1, 2) : words.slice(1);
  return channels.map((channel, index) => ({ channel, isPattern: which === 'patterns', position: index + 1 }));
}
