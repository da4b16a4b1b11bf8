/** Payloads of DUMP unpacked in an engine of this process, aside: as the commands that make the key again, and as what they mean. */
import {
  admit,
  type Collection,
  ErrorReply,
  type KeyspaceDigest,
  KvEngine,
  rebuildingCommands,
  type Value,
} from '../../domain/kv/index.js';
import type { ByteString, Random } from '../../kernel/index.js';

const MOST_FIELDS_AT_ONCE = 100_000;

export class PayloadReader {
  readonly #engine: KvEngine;

  constructor(
    random: Random,
    private readonly nowMs: () => number,
  ) {
    this.#engine = new KvEngine(random, { nowMicros: () => nowMs() * 1000, info: () => new Map() });
    this.#engine.effects.isMuted = true;
  }

  /** @throws Error, when the payload is nothing that is known here */
  commands(key: ByteString, payload: ByteString, expireAtMs: number | undefined): Iterable<ByteString[]> {
    const value = this.#unpacked(key, payload);
    return value === undefined ? [] : rebuildingCommands(key, value, expireAtMs);
  }

  /**
   * Adds the key to the digests; what has expired in it does not count, and a key with nothing else in it neither.
   * @throws Error, when the payload is nothing that is known here
   */
  digest(into: readonly KeyspaceDigest[], key: ByteString, payload: ByteString, expireAtMs: number | undefined): void {
    const value = this.#unpacked(key, payload);
    if (value !== undefined) for (const digest of into) digest.add(key, value, expireAtMs);
  }

  #unpacked(key: ByteString, payload: ByteString): Value | Collection | undefined {
    const { keyspace } = this.#engine;
    keyspace.delete(key);
    const words = ['RESTORE', key, '0', payload];
    const spec = admit(words);
    const nowMs = this.nowMs();
    const reply = spec instanceof ErrorReply ? spec : this.#engine.execute(spec, words, nowMs);
    if (reply instanceof ErrorReply) throw new Error(reply.text);
    this.#engine.expireDue(nowMs, MOST_FIELDS_AT_ONCE);
    const value = keyspace.peek(key);
    // The value stays whole for whoever has it; the engine forgets it.
    keyspace.delete(key);
    return value;
  }
}
