/**
 * The supported Redis parameters, with Redis's names, defaults and formats. Values are validated only here.
 */
import type { ByteString } from '../../kernel/index.js';
import { readNotificationFlags } from './notifications.js';
import { parseInt64 } from './numbers.js';

/** The value in its stored and displayed form, or the end of Redis's error sentence. */
type CheckedValue = { readonly value: ByteString } | { readonly problem: string };

/** Default and maximum entries of ACL LOG; the maximum takes about 14 MB with the longest entries. */
export const DEFAULT_ACL_LOG = 128;
export const MAX_ACL_LOG = 10_000;

export interface ServerParameter {
  readonly name: string;
  readonly standard: ByteString;
  /** Undefined: read-only. */
  readonly check: ((text: ByteString) => CheckedValue) | undefined;
  readonly alias?: string;
}

const outOfRange = (least: number, most: number) => `argument must be between ${least} and ${most} inclusive`;

function integer(least: number, most: number) {
  return (text: ByteString): CheckedValue => {
    const number = parseInt64(text);
    if (typeof number !== 'number') return { problem: "argument couldn't be parsed into an integer" };
    return number < least || number > most ? { problem: outOfRange(least, most) } : { value: text };
  };
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 1024,
  m: 1e6,
  mb: 1024 ** 2,
  g: 1e9,
  gb: 1024 ** 3,
};

function memory(least: number, most: number) {
  return (text: ByteString): CheckedValue => {
    const match = /^([0-9]{1,15})([a-z]{0,2})$/i.exec(text);
    const unit = UNITS[match?.[2]?.toLowerCase() ?? ''];
    if (match === null || unit === undefined) return { problem: 'argument must be a memory value' };
    const bytes = Number(match[1]) * unit;
    return bytes < least || bytes > most ? { problem: outOfRange(least, most) } : { value: String(bytes) };
  };
}

function oneOf(...words: string[]) {
  return (text: ByteString): CheckedValue => {
    const value = text.toLowerCase();
    if (words.includes(value)) return { value };
    return { problem: `argument(s) must be one of the following: ${words.join(', ')}` };
  };
}

const notifications = (text: ByteString): CheckedValue => {
  const value = readNotificationFlags(text);
  if (value !== undefined) return { value };
  return { problem: "Invalid event class character. Use 'Ag$lshzxeKEtmdn'." };
};

/** `<seconds> <changes>` pairs, or an empty text. */
const savePoints = (text: ByteString): CheckedValue => {
  const words = text.split(' ').filter((word) => word !== '');
  const isValid = words.length % 2 === 0 && words.every((word) => /^[0-9]{1,10}$/.test(word));
  return isValid ? { value: words.join(' ') } : { problem: 'Invalid save parameters' };
};

/** The id of a queue account; empty: the account of the database's owner. */
const accountId = (text: ByteString): CheckedValue =>
  /^[A-Za-z0-9_-]{0,64}$/.test(text) ? { value: text } : { problem: 'argument must be the id of an account' };

const MAX_COUNT = Number.MAX_SAFE_INTEGER;
const entries = integer(0, MAX_COUNT);
const bytes = memory(0, MAX_COUNT);

const EVICTION_POLICIES = [
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'noeviction',
] as const;

const PARAMETERS: readonly ServerParameter[] = [
  { name: 'notify-keyspace-events', standard: '', check: notifications },
  { name: 'hash-max-listpack-entries', standard: '128', check: entries, alias: 'hash-max-ziplist-entries' },
  { name: 'hash-max-listpack-value', standard: '64', check: bytes, alias: 'hash-max-ziplist-value' },
  { name: 'set-max-intset-entries', standard: '512', check: entries },
  { name: 'set-max-listpack-entries', standard: '128', check: entries },
  { name: 'set-max-listpack-value', standard: '64', check: entries },
  { name: 'zset-max-listpack-entries', standard: '128', check: entries, alias: 'zset-max-ziplist-entries' },
  { name: 'zset-max-listpack-value', standard: '64', check: bytes, alias: 'zset-max-ziplist-value' },
  {
    name: 'list-max-listpack-size',
    standard: '-2',
    check: integer(-2147483648, 2147483647),
    alias: 'list-max-ziplist-size',
  },
  { name: 'list-compress-depth', standard: '0', check: integer(0, 2147483647) },
  { name: 'stream-node-max-bytes', standard: '4096', check: bytes },
  { name: 'stream-node-max-entries', standard: '100', check: entries },
  { name: 'hll-sparse-max-bytes', standard: '3000', check: bytes },
  { name: 'maxmemory', standard: '0', check: bytes },
  { name: 'maxmemory-policy', standard: 'noeviction', check: oneOf(...EVICTION_POLICIES) },
  { name: 'maxmemory-samples', standard: '5', check: integer(1, 64) },
  { name: 'lfu-log-factor', standard: '10', check: integer(0, 2147483647) },
  { name: 'lfu-decay-time', standard: '1', check: integer(0, 2147483647) },
  { name: 'tracking-table-max-keys', standard: '1000000', check: integer(0, MAX_COUNT) },
  { name: 'slowlog-log-slower-than', standard: '10000', check: integer(-1, MAX_COUNT) },
  { name: 'acllog-max-len', standard: String(DEFAULT_ACL_LOG), check: integer(0, MAX_ACL_LOG) },
  { name: 'slowlog-max-len', standard: '128', check: integer(0, 100_000) },
  { name: 'latency-monitor-threshold', standard: '0', check: integer(0, MAX_COUNT) },
  { name: 'busy-reply-threshold', standard: '5000', check: integer(1, MAX_COUNT), alias: 'lua-time-limit' },
  { name: 'queue-account', standard: '', check: accountId },
  { name: 'databases', standard: '1', check: undefined },
  // Stored so that clients can read them back, without effect: every change is stored before it is answered, and
  // snapshots are made when the journal has grown, so durability is never weaker than requested.
  { name: 'appendonly', standard: 'yes', check: oneOf('yes', 'no') },
  { name: 'appendfsync', standard: 'always', check: oneOf('always', 'everysec', 'no') },
  { name: 'save', standard: '', check: savePoints },
];

export const PARAMETER_DEFAULTS: ReadonlyMap<string, ByteString> = new Map(
  PARAMETERS.map(({ name, standard }) => [name, standard]),
);

const byName = new Map(
  PARAMETERS.flatMap((parameter) => {
    const { name, alias } = parameter;
    return alias === undefined
      ? [[name, parameter] as const]
      : [[name, parameter] as const, [alias, parameter] as const];
  }),
);

/** Finds a parameter by its name or its older name, in any case. */
export function findParameter(name: ByteString): ServerParameter | undefined {
  return byName.get(name.toLowerCase());
}

/** All names with their parameters, including older names, which patterns match too. */
export function allParameterNames(): IterableIterator<[string, ServerParameter]> {
  return byName.entries();
}
