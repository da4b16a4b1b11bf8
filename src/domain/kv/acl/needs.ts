/**
 * The permissions a command needs for its keys and channels. The table's rows state how keys are used: LPUSH inserts
 * without showing the value, so it needs only write permission; EXISTS shows no part of the value, so any permission is
 * enough. Source: the key specifications in COMMAND INFO of Redis 8 (test/differential/acl.test.ts compares).
 */
import type { ByteString } from '../../../kernel/index.js';
import { accessedKeysOf, type CommandDescription } from '../command-description.js';
import { keyUseOf } from '../key-use.js';

/** Permission bits. */
export const READ = 1;
export const WRITE = 2;

const BITS = { read: READ, write: WRITE, both: READ | WRITE } as const;

export interface WantedKey {
  readonly key: ByteString;
  /** The index among the words. */
  readonly position: number;
  /** Bits; 0: any permission is enough. */
  readonly access: number;
}

export function wantedKeysOf(spec: CommandDescription, words: readonly ByteString[]): WantedKey[] {
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

/** `access` shows part of the value; `update`, `insert` and `delete` change it. */
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

/** The channels that need permission. Unsubscribing needs none. */
export function channelsOf({ channels: which }: CommandDescription, words: readonly ByteString[]): WantedChannel[] {
  if (which === undefined) return [];
  const channels = which === 'first' ? words.slice(1, 2) : words.slice(1);
  return channels.map((channel, index) => ({ channel, isPattern: which === 'patterns', position: index + 1 }));
}
