/** Compares both sides key by key, by the meaning of values and by expiry; one batch is in memory at a time. */
import { KeyspaceDigest } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { ImportReport } from './import-report.js';
import { found, isRestorable, lookingAt } from './key-writer.js';
import type { PayloadReader } from './payload-reader.js';
import { type ClientReply, ReplyError } from './reply-reader.js';
import type { RespLink } from './resp-link.js';
import type { SourceKey } from './source.js';

export class KeyComparison {
  /** Digests of all compared keys; they are equal if all keys are. */
  readonly source = new KeyspaceDigest();
  readonly destination = new KeyspaceDigest();

  constructor(
    private readonly link: RespLink,
    private readonly payloads: PayloadReader,
    private readonly report: ImportReport,
    private readonly nowMs: () => number,
  ) {}

  /** @throws Error if the connection is lost */
  async compare(keys: readonly SourceKey[]): Promise<void> {
    // Too large keys were already listed, and expired ones exist on neither side.
    const nowMs = this.nowMs();
    const comparable = keys.filter(isRestorable).filter(({ expireAtMs = nowMs + 1 }) => expireAtMs > nowMs);
    const replies = await this.link.all(comparable.flatMap(({ name }) => lookingAt(name)));
    for (const [index, key] of comparable.entries()) {
      const how = this.#difference(key, replies[2 * index] as ClientReply, replies[2 * index + 1]);
      this.report.counts.compared += 1;
      if (how !== undefined) this.report.differs(key.name, how);
    }
  }

  #difference(key: SourceKey & { payload: ByteString }, payload: ClientReply, at: ClientReply | undefined) {
    const here = new KeyspaceDigest();
    const there = new KeyspaceDigest();
    try {
      this.payloads.digest([here, this.source], key.name, key.payload, key.expireAtMs);
    } catch (error) {
      return `cannot be read: ${(error as Error).message}`;
    }
    if (payload instanceof ReplyError) return payload.text;
    if (typeof payload === 'string') {
      const { expireAtMs } = found(key.name, payload, at);
      this.payloads.digest([there, this.destination], key.name, payload, expireAtMs);
    }
    if (here.toString() === there.toString()) return undefined;
    return payload === null ? 'is not at the destination' : 'has another value or expiry at the destination';
  }
}
