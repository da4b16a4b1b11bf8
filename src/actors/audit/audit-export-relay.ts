/**
 * Hands the notes of one account to its queue, from the control journal.
 *
 *  AXR1 notes are handed over in order, and the queue's journal has the position in the entry that accepts them: no note is
 *       left out or accepted twice, even if the process ends at any moment
 *  AXR2 a refused message is sent again until the account takes it
 *  AXR3 notes that the journal no longer has are reported
 */
import type { AuditExport } from '../../domain/control/index.js';
import type { SequencedCall } from '../../domain/queue/index.js';
import { followLog } from '../../journal/index.js';
import { type AccountId, describeError, MillraceError } from '../../kernel/index.js';
import type { Clock, Journal, Log, QueueGateway, StoredMessage, Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import { placeOf, sequenceAfter } from '../triggers/index.js';
import { type ExportedAccounts, type ExportPorts, messagesOf } from './audit-messages.js';
import { MAX_QUEUED_BYTES, NoteFeed, notesAt, type PlacedNote } from './audit-notes.js';

/** Messages of one request. */
const MOST_RECORDS = 50;
const RETRY_MS = 1_000;
/** The position without a note is stored after so long, so that the next owner does not read further back. */
const ADVANCE_AFTER_MS = 60_000;

export interface AuditExportRelayPorts extends ExportPorts {
  readonly journal: Pick<Journal, 'follow' | 'tail' | 'readAt'>;
  readonly queue: Pick<QueueGateway, 'ask'>;
  readonly accounts: ExportedAccounts;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export class AuditExportRelay {
  readonly #stop = new AbortController();
  #feed: NoteFeed;
  #taken = 0;
  #readUpTo = 0;
  #advancedAtMs = 0;
  /** The time of the oldest note that is read and not taken. */
  #waitingSinceMs: number | undefined;
  #problem: string | undefined;
  #failedSinceMs = 0;

  constructor(
    private readonly ports: AuditExportRelayPorts,
    readonly of: AuditExport,
  ) {
    this.#feed = new NoteFeed(ports.timers);
  }

  get lagMs(): number {
    const sinceMs = this.#waitingSinceMs ?? (this.#problem === undefined ? undefined : this.#failedSinceMs);
    return sinceMs === undefined ? 0 : Math.max(0, this.ports.clock.nowMs() - sinceMs);
  }

  /** Undefined while the account takes the notes. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    const { journal, timers } = this.ports;
    const reader = {
      follow: journal.follow.bind(journal, CONTROL_SHARD),
      begin: (signal: AbortSignal) => this.#begin(signal),
      take: (batch: readonly StoredMessage[], signal: AbortSignal) => this.#handOn(batch, signal),
      failed: (error: unknown) => this.#failed(error),
    };
    const following = { shard: CONTROL_SHARD, maxQueuedBytes: MAX_QUEUED_BYTES, retryMs: RETRY_MS };
    void followLog(timers, reader, following, this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
  }

  async #begin(signal: AbortSignal): Promise<number> {
    const { journal, timers } = this.ports;
    this.#feed = new NoteFeed(timers);
    this.#advancedAtMs = this.ports.clock.monotonicMs();
    this.#taken = Math.max(sequenceAfter(this.of.position), await this.#take([]));
    const { position, isWhole } = placeOf(this.#taken);
    const { first } = await journal.tail(CONTROL_SHARD);
    const notes = isWhole ? [] : await notesAt(journal, timers, position);
    if (notes === undefined || position + 1 < first) {
      this.ports.log.error('audit-export.gap', { account: this.of.account, after: position, first });
    }
    await this.#send(notes ?? [], signal);
    return Math.max(position, first - 1);
  }

  async #handOn(batch: readonly StoredMessage[], signal: AbortSignal): Promise<void> {
    await this.#send(await this.#feed.notesIn(batch), signal);
    this.#readUpTo = batch.at(-1)?.position ?? this.#readUpTo;
    const nowMs = this.ports.clock.monotonicMs();
    if (signal.aborted || nowMs - this.#advancedAtMs < ADVANCE_AFTER_MS) return;
    this.#advancedAtMs = nowMs;
    await this.#take([], sequenceAfter(this.#readUpTo));
  }

  async #send(all: readonly PlacedNote[], signal: AbortSignal): Promise<void> {
    const notes = all.filter(({ note }) => note.account === this.of.account);
    if (notes[0] !== undefined) {
      this.#waitingSinceMs ??= notes[0].note.atMs;
      const { id, terms } = this.ports.accounts.queueOf(this.of.account);
      const calls = [...messagesOf(this.ports, { ...this.of, terms }, notes)];
      let left = calls.filter(({ sequence }) => sequence > this.#taken);
      while (left.length > 0) {
        if (signal.aborted) return;
        const taken = await this.#take(left.slice(0, MOST_RECORDS), undefined, id);
        left = left.filter(({ sequence }) => sequence > taken);
      }
    }
    this.#waitingSinceMs = undefined;
    if (this.#problem !== undefined) this.ports.log.info('audit-export.continues', { account: this.of.account });
    this.#problem = undefined;
  }

  /** @returns the sequence up to which the account has the notes. @throws INVALID with the account's refusal */
  async #take(
    records: readonly SequencedCall[],
    upTo?: number,
    queue: AccountId = this.ports.accounts.queueOf(this.of.account).id,
  ): Promise<number> {
    const source = sourceOf(this.of.account);
    const reply = await this.ports.queue.ask(queue, { type: 'TakeOutbox', source, records, upTo });
    if (reply.type !== 'OutboxTaken') {
      throw new MillraceError(
        'INVALID',
        reply.type === 'Rejected' ? reply.message : `an answer of the type ${reply.type}`,
      );
    }
    this.#taken = Math.max(this.#taken, reply.sequence);
    return reply.sequence;
  }

  #failed(error: unknown): boolean {
    const cause = describeError(error);
    if (this.#problem === undefined) this.#failedSinceMs = this.ports.clock.nowMs();
    if (this.#problem !== cause) this.ports.log.warn('audit-export.not-sent', { account: this.of.account, cause });
    this.#problem = cause;
    return true;
  }
}

export function sourceOf(account: AccountId): string {
  return `audit:${account}`;
}
