/**
 * An engine on a bench: a clock that stands still, chosen randomness, readable replies and effects, and
 * the one law all commands keep: their effects, replayed into another engine, give the same keyspace.
 */
import { expect } from 'chai';
import { RespCommandReader } from '../../src/codec/resp/index.js';
import {
  admit,
  digestOf,
  ErrorReply,
  KvEngine,
  NilArray,
  type Reply,
  type ServerFacts,
  SimpleString,
} from '../../src/domain/kv/index.js';
import { type ByteString, bufferOfBytes } from '../../src/kernel/index.js';
import { NOW, PLANT_LIST, wordsOf } from './kv-case.js';

const FACTS: ServerFacts = {
  nowMicros: () => NOW * 1000 + 42,
  info: () => new Map([['server', new Map([['redis_version', '8.2.0']])]]),
};

/** Stands for a collection: nothing but its kind matters to the commands that meet it. */
const LIST = { kind: 'list', size: 1, bytes: 1 } as const;

export class KvBench {
  nowMs = NOW;
  /** Told of each effect's words. */
  onEffect: (words: ByteString[]) => void = () => {};
  readonly engine: KvEngine;
  readonly #mirror: KvEngine;

  constructor(seed = 1) {
    this.engine = new KvEngine(seededRandom(seed), FACTS);
    this.#mirror = new KvEngine(seededRandom(seed), FACTS);
  }

  /** Runs words as a client's, then replays what they recorded and compares the two keyspaces. */
  run(words: readonly ByteString[]): { reply: Reply; effects: string[] } {
    if (words[0] === PLANT_LIST.trim()) return this.#plant(words[1] as ByteString);
    const spec = admit(words);
    if (spec instanceof ErrorReply) return { reply: spec, effects: [] };
    const reply = this.engine.execute(spec, words, this.nowMs);
    return { reply, effects: this.#replayEffects() };
  }

  /** Removes at most so many keys that are due, as the owner of a partition does now and then. */
  expireDue(limit: number): string[] {
    this.engine.expireDue(this.nowMs, limit);
    return this.#replayEffects();
  }

  #replayEffects(): string[] {
    const effects: string[] = [];
    for (const effect of new RespCommandReader(bufferOfBytes(this.engine.effects.take()))) {
      effects.push(effect.map((word) => (word === '' ? "''" : word)).join(' '));
      this.#mirror.replay(effect);
      this.onEffect(effect);
    }
    return effects;
  }

  line(line: string | readonly string[]): { reply: Reply; effects: string[] } {
    return this.run(wordsOf(line, this.nowMs));
  }

  /** @throws AssertionError when the replayed effects give another keyspace than the commands did */
  expectReplayed(): void {
    expect(dropCollections(this.#mirror), 'collections').to.deep.equal(dropCollections(this.engine));
    expect(digestOf(this.#mirror.keyspace), 'digest of the replayed effects').to.equal(digestOf(this.engine.keyspace));
    expect(this.#mirror.keyspace.size).to.equal(this.engine.keyspace.size);
  }

  #plant(key: ByteString): { reply: Reply; effects: string[] } {
    this.engine.keyspace.set(key, LIST);
    this.#mirror.keyspace.set(key, LIST);
    return { reply: 1, effects: [] };
  }
}

/** Removes what stands for collections, for it cannot be rebuilt; the keys, sorted. */
function dropCollections({ keyspace }: KvEngine): ByteString[] {
  const keys: ByteString[] = [];
  for (const [key, value] of keyspace.entries()) if (typeof value !== 'string') keys.push(key);
  for (const key of keys) keyspace.delete(key);
  return keys.sort();
}

/** A reply as cases write it. */
export function readable(reply: Reply): unknown {
  if (reply instanceof SimpleString) return `+${reply.text}`;
  if (reply instanceof ErrorReply) return `-${reply.text}`;
  if (reply === null || reply instanceof NilArray) return null;
  return typeof reply === 'object' ? reply.map(readable) : reply;
}

/** xorshift: the same numbers from the same seed, everywhere. */
export function seededRandom(seed: number): { bytes(count: number): Uint8Array; float(): number } {
  let state = seed | 0 || 1;
  const float = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return { float, bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(float() * 256)) };
}
