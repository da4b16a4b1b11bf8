/**
 * Decodes DUMP payloads in a separate engine of this process, into commands that recreate the key, or into a digest
 * of its meaning.
 */
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

  /** @throws Error for an unknown payload */
  commands(key: ByteString, payload: ByteString, expireAtMs: number | undefined): Iterable<ByteString[]> {
    const value = this.#unpacked(key, payload);
    return value === undefined ? [] : rebuildingCommands(key, value, expireAtMs);
  }

  /**
   * Adds the key to the digests. Expired fields do not count, nor does a key with only expired fields.
   * @throws Error for an unknown payload
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
    this.#engine.removal.expireDue(nowMs, MOST_FIELDS_AT_ONCE);
    const value = keyspace.peek(key);
    // The caller keeps the value; only the engine's key is deleted.
    keyspace.delete(key);
    return value;
  }
}
