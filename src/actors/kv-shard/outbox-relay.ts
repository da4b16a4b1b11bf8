/**
 * Sends the records of the outboxes of a shard's partitions to the owners of their accounts, and tells the partitions
 * how far they were accepted.
 *
 *  OBR1 only stored records are sent, in order, with one request of a partition at a time
 *  OBR2 a repetition after any failure changes no state: the account knows the last sequence of each partition
 *  OBR3 a refused record stays, and is sent again; until it is accepted, its account counts as refusing
 *  OBR5 records of a branch are held, unless it was made to send them; a record is not sent before that is known
 *  OBR4 an accepted record leaves the outbox with the next entry of the partition, at the latest after a moment
 */
import { decodeOutboxRecord } from '../../codec/queue/index.js';
import type { MessageComposer, PendingMessage } from '../../domain/kv/index.js';
import type { QueueReply, SequencedCall } from '../../domain/queue/index.js';
import {
  type AccountId,
  bufferOfBytes,
  type DatabaseId,
  describeError,
  type PartitionName,
} from '../../kernel/index.js';
import type { Clock, Log, QueueGateway, Timer, Timers } from '../../ports/index.js';
import type { OwnedPartition } from './owned-partition.js';
import type { AccountRefusals } from './queue-messages.js';

/** Records of one request; decoding them takes about a millisecond. */
const MOST_RECORDS = 100;
const MOST_BYTES = 256 * 1024;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** One failure in so many is logged, about one a minute. */
const FAILURES_A_LINE = 12;
/** OBR4: the delay of an entry that only says how far the records were accepted. */
const CONFIRM_AFTER_MS = 50;

export interface OutboxRelayPorts {
  readonly queue: Pick<QueueGateway, 'ask'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly refusals: AccountRefusals;
  /** Whether messages of the database are sent. Until that is known, none is. */
  holds?(database: DatabaseId): 'sent' | 'held' | 'unknown';
  /** Called when records were accepted: the actor's next drain calls `confirm`. */
  onAccepted(): void;
}

interface Sending {
  isOpen: boolean;
  /** The last accepted sequence; 0: none by this activation. */
  sentUpTo: number;
  mostRecords: number;
  failures: number;
  retry: Timer | undefined;
}

interface Batch {
  readonly account: AccountId;
  readonly records: readonly SequencedCall[];
}

export class OutboxRelay {
  readonly #sendings = new Map<OwnedPartition, Sending>();
  readonly #accepted = new Map<OwnedPartition, number>();
  #acceptedSinceMs: number | undefined;
  #isStopped = false;

  constructor(private readonly ports: OutboxRelayPorts) {}

  /** Sends the stored records of the partition, unless a request is open. Cheap without records. */
  look(owned: OwnedPartition): void {
    const outbox = owned.engine?.outbox;
    if (outbox === undefined || outbox.size === 0 || owned.isInDoubt || this.#isStopped) return;
    const sending = this.#sendingOf(owned);
    if (sending.isOpen || sending.retry !== undefined) return;
    const pending = outbox.stored(sending.sentUpTo, sending.mostRecords, MOST_BYTES);
    if (pending.length === 0) return;
    const holds = this.ports.holds?.(owned.database) ?? 'sent';
    if (holds === 'sent') this.#send(owned, sending, pending);
    else if (holds === 'unknown') this.#retry(owned, sending, FIRST_RETRY_MS);
  }

  /** Milliseconds until accepted records have to be confirmed; undefined: there are none. */
  get confirmInMs(): number | undefined {
    if (this.#acceptedSinceMs === undefined) return undefined;
    return Math.max(1, this.#acceptedSinceMs + CONFIRM_AFTER_MS - this.ports.clock.monotonicMs());
  }

  /**
   * Confirms accepted records (OBR4).
   * @param isTurnOpen other effects are in the turn, so the confirmation needs no entry of its own
   * @param confirm returns false while the partition cannot take effects
   */
  confirm(isTurnOpen: boolean, confirm: (owned: OwnedPartition, sequence: number) => boolean): void {
    const inMs = this.confirmInMs;
    if (inMs === undefined || (!isTurnOpen && inMs > 1)) return;
    for (const [owned, sequence] of this.#accepted) {
      if (!confirm(owned, sequence)) continue;
      this.#accepted.delete(owned);
      const sending = this.#sendings.get(owned);
      if (owned.engine?.outbox.size === 0 && sending?.isOpen === false) this.#sendings.delete(owned);
    }
    this.#acceptedSinceMs = this.#accepted.size === 0 ? undefined : this.ports.clock.monotonicMs();
  }

  stop(): void {
    this.#isStopped = true;
    for (const { retry } of this.#sendings.values()) retry?.cancel();
  }

  #sendingOf(owned: OwnedPartition): Sending {
    const known = this.#sendings.get(owned);
    if (known !== undefined) return known;
    const sending = { isOpen: false, sentUpTo: 0, mostRecords: MOST_RECORDS, failures: 0, retry: undefined };
    this.#sendings.set(owned, sending);
    return sending;
  }

  #send(owned: OwnedPartition, sending: Sending, pending: readonly PendingMessage[]): void {
    sending.isOpen = true;
    let batch: Batch;
    try {
      batch = batchOf(pending);
    } catch (error) {
      this.#failed(owned, sending, error);
      return;
    }
    const { account, records } = batch;
    this.ports.queue.ask(account, { type: 'TakeOutbox', source: owned.name, records }).then(
      (reply) => this.#answered(owned, sending, batch, reply),
      (error: unknown) => this.#failed(owned, sending, error),
    );
  }

  #answered(owned: OwnedPartition, sending: Sending, { account, records }: Batch, reply: QueueReply): void {
    if (this.#isStopped) return;
    if (reply.type === 'OutboxTaken') {
      this.ports.refusals.clear(account);
      sending.isOpen = false;
      sending.failures = 0;
      sending.mostRecords = Math.min(MOST_RECORDS, sending.mostRecords * 2);
      sending.sentUpTo = Math.max(sending.sentUpTo, reply.sequence);
      this.#accepted.set(owned, sending.sentUpTo);
      this.#acceptedSinceMs ??= this.ports.clock.monotonicMs();
      this.ports.onAccepted();
      this.look(owned);
      return;
    }
    if (records.length > 1) {
      // One of the records may be the cause: fewer are sent.
      sending.isOpen = false;
      sending.mostRecords = Math.max(1, Math.floor(records.length / 2));
      this.look(owned);
      return;
    }
    const reason = reply.type === 'Rejected' ? reply.message : `an answer of the type ${reply.type}`;
    this.ports.refusals.note(account, reason);
    this.#failed(owned, sending, reason);
  }

  #failed(owned: OwnedPartition, sending: Sending, error: unknown): void {
    if (this.#isStopped) return;
    const retryInMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(sending.failures, 10));
    if (sending.failures % FAILURES_A_LINE === 0) {
      const { failures: before } = sending;
      this.ports.log.warn('outbox.not-sent', { partition: owned.name, before, cause: describeError(error) });
    }
    sending.failures += 1;
    this.#retry(owned, sending, retryInMs);
  }

  #retry(owned: OwnedPartition, sending: Sending, inMs: number): void {
    sending.retry = this.ports.timers.after(inMs, () => {
      sending.retry = undefined;
      sending.isOpen = false;
      this.look(owned);
    });
  }
}

/** The first records, as far as they are for one account. @throws JOURNAL_DAMAGED */
function batchOf(pending: readonly PendingMessage[]): Batch {
  const records: SequencedCall[] = [];
  let batchAccount: AccountId | undefined;
  for (const { sequence, record } of pending) {
    const { account, call } = decodeOutboxRecord(bufferOfBytes(record));
    batchAccount ??= account;
    if (account !== batchAccount) break;
    records.push({ sequence, call });
  }
  return { account: batchAccount as AccountId, records };
}

/** The parts that a plane needs to send messages to the queue. */
export interface OutboxParts {
  readonly queue: Pick<QueueGateway, 'ask'>;
  readonly refusals: AccountRefusals;
  holds?(database: DatabaseId): 'sent' | 'held' | 'unknown';
  /** Makes the records of a partition's commands. */
  composerFor(partition: PartitionName): MessageComposer;
}
