/**
 * An engine with a fixed clock, seeded randomness, and readable replies and effects. After each command it checks the
 * law of all commands: a replay of their effects in another engine gives the same keyspace.
 */
import { expect } from 'chai';
import { AccountRefusals, QueueMessages } from '../../src/actors/kv-shard/index.js';
import { RespCommandReader } from '../../src/codec/resp/index.js';
import { DEFAULT_ACCOUNT_LIMITS } from '../../src/domain/control/index.js';
import {
  admit,
  type Caller,
  type CommandSpec,
  digestOf,
  ErrorReply,
  flatten,
  KvEngine,
  NilArray,
  type Reply,
  rebuildingCommands,
  rebuildingPreamble,
  type ServerInfo,
  SimpleString,
} from '../../src/domain/kv/index.js';
import type { AccountId, ByteString, DatabaseId } from '../../src/kernel/index.js';
import { NOW, wordsOf } from './kv-case.js';

export const OUTBOX_ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;

const FACTS: ServerInfo = {
  nowMicros: () => NOW * 1000 + 42,
  info: () => new Map([['server', new Map([['redis_version', '8.2.0']])]]),
};

export class KvBench {
  nowMs = NOW;
  /** The caller of commands; a REST client by default. */
  caller: Caller = {};
  /** Called with the words of each effect. */
  onEffect: (words: ByteString[]) => void = () => {};
  readonly engine: KvEngine;
  readonly #mirror: KvEngine;

  constructor(seed = 1) {
    this.engine = new KvEngine(seededRandom(seed), FACTS);
    this.engine.outbox.composer = messagesOf(seed);
    this.#mirror = new KvEngine(seededRandom(seed), FACTS);
  }

  /** Runs a client's command, replays its effects and compares the two keyspaces. */
  run(words: readonly ByteString[]): { reply: Reply; effects: string[] } {
    return this.execute(admit(words), words);
  }

  /** @param spec may also be a command that an endpoint sends for a client */
  execute(spec: CommandSpec | ErrorReply, words: readonly ByteString[]): { reply: Reply; effects: string[] } {
    if (spec instanceof ErrorReply) return { reply: spec, effects: [] };
    const reply = this.engine.execute(spec, words, this.nowMs, this.caller) as Reply;
    return { reply, effects: this.#replayEffects() };
  }

  /** Removes at most `limit` expired keys, as the owner of a partition does at intervals. */
  expireDue(limit: number): string[] {
    this.engine.removal.expireDue(this.nowMs, limit);
    return this.#replayEffects();
  }

  #replayEffects(): string[] {
    const effects: string[] = [];
    for (const effect of new RespCommandReader(this.engine.effects.take())) {
      effects.push(effect.map((word) => (word === '' ? "''" : word)).join(' '));
      this.#mirror.replay(effect);
      this.onEffect(effect);
    }
    return effects;
  }

  line(line: string | readonly string[]): { reply: Reply; effects: string[] } {
    return this.run(wordsOf(line, this.nowMs));
  }

  /** @throws AssertionError if the replayed effects give another keyspace than the commands */
  expectReplayed(): void {
    expect(digestOf(this.#mirror), 'digest of the replayed effects').to.equal(digestOf(this.engine));
    expect(this.#mirror.keyspace.size).to.equal(this.engine.keyspace.size);
    expect(this.#mirror.keyspace.bytes, 'bytes of the replayed effects').to.equal(this.engine.keyspace.bytes);
  }

  /** @throws AssertionError if the commands that rebuild the keyspace give another one */
  expectRebuilt(): void {
    const rebuilt = new KvEngine(seededRandom(1), FACTS);
    for (const words of rebuildingPreamble(this.engine)) rebuilt.replay(words);
    for (const [key, value, atMs] of this.engine.keyspace.entries()) {
      for (const words of rebuildingCommands(key, value, atMs)) rebuilt.replay(words);
    }
    expect(digestOf(rebuilt), 'digest of what the rebuilding commands make').to.equal(digestOf(this.engine));
    expect(rebuilt.keyspace.bytes, 'bytes of what they make').to.equal(this.engine.keyspace.bytes);
  }
}

/** Composes messages for an account with default settings. The host forbidden.example is refused. */
export function messagesOf(seed: number, refusals = new AccountRefusals()): QueueMessages {
  const terms = { state: 'active', limits: DEFAULT_ACCOUNT_LIMITS, centsPer100kMessages: 0 } as const;
  return new QueueMessages(
    {
      accounts: { outboxAccountOf: () => ({ account: OUTBOX_ACCOUNT, terms }) },
      random: seededRandom(seed),
      destinations: { refusalOf: (url) => (url.includes('forbidden.example') ? 'forbidden' : undefined) },
      refusals,
    },
    'db-aaaaaaaaaaaaaaaa' as DatabaseId,
  );
}

/** Converts a reply to the form that cases have. */
export function readable(given: Reply): unknown {
  const reply = flatten(given);
  if (reply instanceof SimpleString) return `+${reply.text}`;
  if (reply instanceof ErrorReply) return `-${reply.text}`;
  if (reply === null || reply instanceof NilArray) return null;
  return typeof reply === 'object' ? reply.map(readable) : reply;
}

/** A xorshift generator: the same seed gives the same numbers on every machine. */
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
