/**
 * What a command needs of the keys and channels it names. The table's rows tell where keys are; a row whose
 * flags say more or less than Redis asks for is listed here: LPUSH writes without showing anything, EXISTS
 * shows nothing of a value and is content with any permission.
 * Source: the key specifications that COMMAND INFO of Redis 8 gives (test/differential/acl.test.ts compares).
 */
import type { ByteString } from '../../../kernel/index.js';
import { accessedKeysOf, type CommandSpec } from '../command-spec.js';

/** Bits of what is permitted, or needed. */
export const READ = 1;
export const WRITE = 2;

const BITS = { read: READ, write: WRITE, both: READ | WRITE } as const;

const WRITES_ONLY =
  'append del delex expire expireat geoadd hdel hexpire hexpireat hmset hpersist hpexpire hpexpireat hset hsetex ' +
  'hsetnx linsert lpush lpushx lrem lset ltrim mset msetex msetnx persist pexpire pexpireat pfadd psetex restore ' +
  'rpush rpushx sadd setex setnx setrange srem unlink xack xackdel xadd xautoclaim xcfgset xclaim xdel xdelex ' +
  'xgroup|create xgroup|createconsumer xgroup|delconsumer xgroup|destroy xgroup|setid xsetid xtrim ' +
  'zadd zrem zremrangebylex zremrangebyrank zremrangebyscore';
const NEEDS_NEITHER =
  'exists hexists hlen hstrlen llen memory|usage object|encoding object|freq object|idletime object|refcount ' +
  'scard sismember strlen touch type watch xlen zcard';
const NEEDS_BOTH = 'eval evalsha fcall';
const READS_ONLY = 'xreadgroup';
const MOVES = 'rename renamenx lmove blmove rpoplpush brpoplpush smove';
const READS_AND_STORES = 'copy sort georadius georadiusbymember';
const STORES = 'sdiffstore sinterstore sunionstore zdiffstore zinterstore zunionstore zrangestore geosearchstore bitop';

/** By row: for the first key, the second, … ; those behind need what the last one does. */
const bitsByName = new Map<string, readonly number[]>([
  ...listed(WRITES_ONLY, WRITE),
  ...listed(NEEDS_NEITHER, 0),
  ...listed(NEEDS_BOTH, READ | WRITE),
  ...listed(READS_ONLY, READ),
  ...listed(MOVES, READ | WRITE, WRITE),
  ...listed(READS_AND_STORES, READ, WRITE),
  ...listed(STORES, WRITE, READ),
  ...listed('pfmerge', READ | WRITE, READ),
]);

function listed(names: string, ...bits: readonly number[]): [string, readonly number[]][] {
  return names.split(' ').map((name) => [name.toUpperCase().replace('|', ' '), bits]);
}

/** Those whose options decide. */
const bitsByWords: Readonly<Record<string, (words: readonly ByteString[]) => number>> = {
  SET: (words) => (hasWord(words, 3, 'GET') ? READ | WRITE : WRITE),
  BITFIELD: (words) => (hasWord(words, 2, 'SET') || hasWord(words, 2, 'INCRBY') ? READ | WRITE : READ),
};

function hasWord(words: readonly ByteString[], from: number, option: string): boolean {
  return words.some((word, index) => index >= from && word.toUpperCase() === option);
}

export interface WantedKey {
  readonly key: ByteString;
  /** Among the words. */
  readonly position: number;
  /** Bits; 0: any permission will do. */
  readonly access: number;
}

export function wantedKeysOf(spec: CommandSpec, words: readonly ByteString[]): WantedKey[] {
  if (spec.keys.kind === 'none') return [];
  const byWords = bitsByWords[spec.name];
  const bits = byWords === undefined ? bitsByName.get(spec.name) : [byWords(words)];
  return accessedKeysOf(spec, words).map(({ key, position, access }, index) => ({
    key,
    position,
    access: bits?.[index] ?? bits?.at(-1) ?? BITS[access],
  }));
}

export interface WantedChannel {
  readonly channel: ByteString;
  readonly isPattern: boolean;
  readonly position: number;
}

interface ChannelPlace {
  /** Every word behind the name, or the first alone. */
  readonly isList: boolean;
  readonly isPattern: boolean;
}

/** Ending a subscription needs no permission. */
const CHANNELS: Readonly<Record<string, ChannelPlace>> = {
  PUBLISH: { isList: false, isPattern: false },
  SPUBLISH: { isList: false, isPattern: false },
  SUBSCRIBE: { isList: true, isPattern: false },
  SSUBSCRIBE: { isList: true, isPattern: false },
  PSUBSCRIBE: { isList: true, isPattern: true },
};

export function channelsOf({ name, flags }: CommandSpec, words: readonly ByteString[]): WantedChannel[] {
  const place = flags.includes('pubsub') ? CHANNELS[name] : undefined;
  if (place === undefined) return [];
  const { isPattern, isList } = place;
  const channels = isList ? words.slice(1) : words.slice(1, 2);
  return channels.map((channel, index) => ({ channel, isPattern, position: index + 1 }));
}
