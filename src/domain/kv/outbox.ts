/**
 * The outbox of a partition: messages for the queue that its commands have made, until the queue has accepted them.
 * Records are bytes here; the owner's composer makes them, and its relay sends them (docs/decisions/queue.md).
 *
 *  OB1 sequences grow, also across a return to an earlier state of the database, because they begin with the time
 *  OB2 only records whose entry is stored are sent
 *  OB3 a record that is known, or was sent, is not added again by any replay
 *  OB4 records and bytes are bounded; above that a command is refused
 */
import type { ByteString } from '../../kernel/index.js';
import type { Effects } from './effects.js';
import { ErrorReply } from './reply.js';

/** The call that a command makes. */
export type OutboxCallKind = 'publish' | 'trigger' | 'schedule' | 'notify';

export interface ComposedMessage {
  readonly record: ByteString;
  /** The reply of the command. */
  readonly id: ByteString;
}

/** Makes records, with the rules of the queue. */
export interface MessageComposer {
  /**
   * @param words of the command, with its name
   * @param account the parameter `queue-account`; empty: the account of the database's owner
   * @throws ErrorReply when the queue would refuse the call, as far as this process knows
   */
  compose(kind: OutboxCallKind, words: readonly ByteString[], account: ByteString, nowMs: number): ComposedMessage;
}

export interface PendingMessage {
  readonly sequence: number;
  readonly record: ByteString;
}

/** Effects. Owners run them in replay only; clients cannot send them. */
export const PENDING_EFFECT = 'QUEUE.PENDING';
export const SENT_EFFECT = 'QUEUE.SENT';

/** Sequences in one millisecond before they run ahead of the clock. The product stays exact until the year 2248. */
const SEQUENCES_PER_MS = 1024;
const MAX_PENDING_MESSAGES = 10_000;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
/** Sent records at the front of the list are cut off together. */
const CUT_AT = 256;

const NO_QUEUE = new ErrorReply('ERR queue: this process has no queue');
const FULL = new ErrorReply(
  `ERR queue: ${MAX_PENDING_MESSAGES} messages or ${MAX_PENDING_BYTES} bytes of this database wait for the queue; try again later`,
);

/** The end of the list before a run that can be undone. */
interface Mark {
  readonly length: number;
  readonly last: number;
  readonly bytes: number;
}

export class Outbox {
  composer: MessageComposer | undefined;
  /** In order of sequence. Those before `#from` were sent. */
  #pending: PendingMessage[] = [];
  #from = 0;
  #bytes = 0;
  #last = 0;
  /** Of the last stored entry (OB2), and of the entry in flight. */
  #storedUpTo = 0;
  #sealedUpTo = 0;
  #mark: Mark | undefined;
  /** Composed for a transaction that is judged before it runs. */
  readonly #judged = new WeakMap<readonly ByteString[], ComposedMessage>();
  #judgedRecords = 0;
  #judgedBytes = 0;

  constructor(private readonly effects: Effects) {}

  /** The number of records that wait. */
  get size(): number {
    return this.#pending.length - this.#from;
  }

  /** The time of the oldest waiting record; undefined: none waits. */
  get oldestAtMs(): number | undefined {
    const oldest = this.#pending[this.#from];
    return oldest === undefined ? undefined : Math.floor(oldest.sequence / SEQUENCES_PER_MS);
  }

  /** Begins to judge the commands of one transaction. */
  beginJudging(): void {
    this.#judgedRecords = 0;
    this.#judgedBytes = 0;
  }

  /** Keeps the message until the command runs. @throws ErrorReply when there is no room for all judged messages */
  judge(words: readonly ByteString[], composed: ComposedMessage): void {
    this.#judgedRecords += 1;
    this.#judgedBytes += composed.record.length;
    this.#requireRoom(this.#judgedRecords, this.#judgedBytes);
    this.#judged.set(words, composed);
  }

  takeJudged(words: readonly ByteString[]): ComposedMessage | undefined {
    const composed = this.#judged.get(words);
    if (composed !== undefined) this.#judged.delete(words);
    return composed;
  }

  /** @throws ErrorReply */
  compose(kind: OutboxCallKind, words: readonly ByteString[], account: ByteString, nowMs: number): ComposedMessage {
    if (this.composer === undefined) throw NO_QUEUE;
    return this.composer.compose(kind, words, account, nowMs);
  }

  /** OB4 (records and bytes are bounded). @throws ErrorReply */
  #requireRoom(records: number, bytes: number): void {
    if (this.size + records > MAX_PENDING_MESSAGES || this.#bytes + bytes > MAX_PENDING_BYTES) throw FULL;
  }

  /** @throws ErrorReply when there is no room */
  add(record: ByteString, nowMs: number): void {
    this.#requireRoom(1, record.length);
    const sequence = Math.max(this.#last + 1, Math.floor(nowMs) * SEQUENCES_PER_MS);
    this.#append({ sequence, record });
    this.effects.push(PENDING_EFFECT, String(sequence), record);
  }

  /** The queue has accepted the records up to this sequence. */
  sent(sequence: number): void {
    this.replaySent(sequence);
    this.effects.push(SENT_EFFECT, String(sequence));
  }

  replayPending(message: PendingMessage): void {
    if (message.sequence <= this.#last) return;
    this.#append(message);
    this.#storedUpTo = message.sequence;
  }

  replaySent(sequence: number): void {
    while (this.size > 0 && (this.#pending[this.#from] as PendingMessage).sequence <= sequence) {
      this.#bytes -= (this.#pending[this.#from] as PendingMessage).record.length;
      this.#from += 1;
    }
    this.#last = Math.max(this.#last, sequence);
    this.#storedUpTo = Math.max(this.#storedUpTo, sequence);
    if (this.#from < CUT_AT && this.size > 0) return;
    this.#pending = this.#pending.slice(this.#from);
    this.#from = 0;
  }

  /** Stored records after a sequence, in order (OB2). */
  stored(after: number, maxRecords: number, maxBytes: number): readonly PendingMessage[] {
    const found: PendingMessage[] = [];
    let bytes = 0;
    for (let at = this.#from; at < this.#pending.length && found.length < maxRecords; at += 1) {
      const message = this.#pending[at] as PendingMessage;
      if (message.sequence > this.#storedUpTo) break;
      if (message.sequence <= after) continue;
      bytes += message.record.length;
      if (found.length > 0 && bytes > maxBytes) break;
      found.push(message);
    }
    return found;
  }

  /** The records so far, without those of an open run, go into the next entry. */
  seal(): void {
    this.#sealedUpTo = this.#mark?.last ?? this.#last;
  }

  /** The sealed entry is stored. */
  commit(): void {
    if (this.#sealedUpTo > this.#storedUpTo) this.#storedUpTo = this.#sealedUpTo;
  }

  hold(): void {
    this.#mark = { length: this.#pending.length - this.#from, last: this.#last, bytes: this.#bytes };
  }

  letGo(): void {
    this.#mark = undefined;
  }

  /** Drops the records since `hold`. */
  drop(): void {
    const mark = this.#mark;
    if (mark === undefined) return;
    this.#mark = undefined;
    this.#pending.length = this.#from + mark.length;
    this.#last = mark.last;
    this.#bytes = mark.bytes;
  }

  /** Takes the place of `other`, whose database gets another state: its records are still sent. */
  adopt(other: Outbox): void {
    this.#pending = other.#pending;
    this.#from = other.#from;
    this.#bytes = other.#bytes;
    this.#last = other.#last;
    this.#storedUpTo = other.#storedUpTo;
    this.#sealedUpTo = other.#sealedUpTo;
    this.#mark = undefined;
  }

  /** The effects that rebuild it, for snapshots. */
  *rebuilding(): Iterable<ByteString[]> {
    if (this.#last === 0) return;
    const first = this.#pending[this.#from];
    // Without records the last sequence alone; else one below the first, so that each is later than it.
    yield [SENT_EFFECT, String(first === undefined ? this.#last : first.sequence - 1)];
    for (let at = this.#from; at < this.#pending.length; at += 1) {
      const { sequence, record } = this.#pending[at] as PendingMessage;
      yield [PENDING_EFFECT, String(sequence), record];
    }
  }

  #append(message: PendingMessage): void {
    this.#pending.push(message);
    this.#bytes += message.record.length;
    this.#last = message.sequence;
  }
}
