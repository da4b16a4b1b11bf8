/** The Millrace engine and a real server, which receive the same commands. */
import { expect } from 'chai';
import { encodeReply } from '../../src/codec/resp/index.js';
import { findCommand } from '../../src/domain/kv/index.js';
import type { ByteString } from '../../src/kernel/index.js';
import { KvBench } from '../support/kv-bench.js';
import { wordsOf } from '../support/kv-case.js';
import type { RespClient } from '../support/resp-client.js';
import { isWithoutRedis, KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.js';

/** Replies whose items come in no order. */
const UNORDERED = new Set([
  'FUNCTION',
  'KEYS',
  'SCAN',
  'SMEMBERS',
  'HKEYS',
  'HVALS',
  'SINTER',
  'SUNION',
  'SDIFF',
  'SSCAN',
  'SPOP',
  'SRANDMEMBER',
  'HRANDFIELD',
]);
/** Of pairs, which come in no order. */
const UNORDERED_PAIRS = new Set(['HGETALL', 'HSCAN', 'ZSCAN']);
/** How to read all of a value, by the word TYPE has for it. */
const READERS: Readonly<Record<string, (key: ByteString) => ByteString[][]>> = {
  string: (key) => [['GET', key]],
  hash: (key) => [['HGETALL', key]],
  list: (key) => [['LRANGE', key, '0', '-1']],
  set: (key) => [['SMEMBERS', key]],
  zset: (key) => [['ZRANGE', key, '0', '-1', 'WITHSCORES']],
  stream: (key) => [
    ['XRANGE', key, '-', '+'],
    ['XINFO', 'GROUPS', key],
    ['XINFO', 'STREAM', key, 'FULL', 'COUNT', '0'],
  ],
};

export class Pair {
  bench = new KvBench();
  /** By a known difference they hold different data now: what comes next proves nothing. */
  haveParted = false;
  #major = 0;

  constructor(
    private readonly theirs: RespClient,
    readonly met: Set<KnownDifference>,
  ) {}

  /** Both empty, and our clock at the real time. */
  async reset(): Promise<void> {
    this.bench = new KvBench();
    this.bench.nowMs = Date.now();
    this.bench.caller = { endpoint: 'resp' };
    this.haveParted = false;
    await this.theirs.call(['FLUSHALL']);
    await this.theirs.call(['FUNCTION', 'FLUSH']);
    if (this.#major > 0) return;
    const info = await this.theirs.call(['INFO', 'server']);
    this.#major = Number(/redis_version:([0-9]+)/.exec(info)?.[1]);
  }

  /** Runs a line on both. @throws AssertionError when the replies differ and no known difference covers it */
  async run(line: string | readonly string[]): Promise<string[]> {
    const words = wordsOf(line, this.bench.nowMs);
    const { reply, effects } = this.bench.run(words);
    const ours = encodeReply(reply);
    if (isWithoutRedis(ours)) return effects;
    const theirs = await this.theirs.call(words);
    if (areAlike(words, ours, theirs)) return effects;
    const spec = words.length > 0 ? findCommand(words) : undefined;
    const exchange = { spec, words: upperName(words), ours, theirs, major: this.#major };
    const known = KNOWN_DIFFERENCES.find((difference) => difference.covers(exchange));
    if (known === undefined) expect({ words, reply: ours }).to.deep.equal({ words, reply: theirs });
    else this.met.add(known);
    if (known?.parts === true) this.haveParted = true;
    return effects;
  }

  /** The same keys with the same values and expiries on both sides. */
  async compareState(): Promise<void> {
    if (this.haveParted) return;
    const { keyspace } = this.bench.engine;
    keyspace.nowMs = this.bench.nowMs;
    const ours: string[] = [];
    for (const key of keyspace.keys()) ours.push(key);
    const theirs = bulks(await this.theirs.call(['KEYS', '*']));
    expect(ours.sort()).to.deep.equal(theirs.sort());
    for (const key of theirs) {
      await this.run(['TYPE', key]);
      const type = (await this.theirs.call(['TYPE', key])).slice(1, -2);
      for (const words of READERS[type]?.(key) ?? []) await this.run(words);
      const ourExpiry = keyspace.expiryOf(key) ?? -1;
      const theirExpiry = Number((await this.theirs.call(['PEXPIRETIME', key])).slice(1));
      expect(Math.abs(ourExpiry - theirExpiry), `expiry of ${key}: ${ourExpiry}, ${theirExpiry}`).to.be.lessThan(2000);
    }
  }
}

/** The same bytes, or the same items where they come in no order. */
export function areAlike(words: readonly ByteString[], ours: ByteString, theirs: ByteString): boolean {
  if (ours === theirs) return true;
  const name = (words[0] ?? '').toUpperCase();
  const read =
    UNORDERED_PAIRS.has(name) && !words.some((word) => /^novalues$/i.test(word))
      ? sortedPairs
      : UNORDERED.has(name) || UNORDERED_PAIRS.has(name)
        ? sorted
        : undefined;
  return read !== undefined && ours.startsWith('*') && read(ours) === read(theirs);
}

function sorted(resp: ByteString): string {
  return JSON.stringify(bulks(resp).sort());
}

function sortedPairs(resp: ByteString): string {
  const items = bulks(resp);
  const isScan = resp.startsWith('*2\r\n$') && items.length % 2 === 1;
  const pairs: string[] = [];
  for (let i = isScan ? 1 : 0; i < items.length; i += 2) pairs.push(JSON.stringify([items[i], items[i + 1]]));
  return `${isScan ? items[0] : ''}${pairs.sort().join()}`;
}

function upperName(words: readonly ByteString[]): ByteString[] {
  return words.map((word, index) => (index === 0 ? word.toUpperCase() : word));
}

/** The bulk strings anywhere in an array reply. */
export function bulks(resp: ByteString): ByteString[] {
  const found: ByteString[] = [];
  let at = 0;
  while (at < resp.length) {
    const line = resp.indexOf('\r\n', at);
    const length = Number(resp.slice(at + 1, line));
    if (resp[at] === '$' && length >= 0) {
      found.push(resp.slice(line + 2, line + 2 + length));
      at = line + 4 + length;
    } else {
      at = line + 2;
    }
  }
  return found;
}
