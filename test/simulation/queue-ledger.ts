/**
 * The journals of the queue, read when an entry is stored, and checked against the rules for them. The ledger knows the
 * events, but not the engine that made them.
 *
 *  SQL1 a message is accepted once and ends once; a deduplication id accepts one message within its window
 *  SQL2 attempts count up by one, within the limits of retries and of restarts, and none starts before it is due
 *  SQL3 an outcome and its consequences, callbacks and DLQ entry, are in one entry
 */

import { EntryAssembler, type ReadEntry } from '../../src/codec/envelope/index.js';
import { decodeIntakeRecord, decodeQueueEvents } from '../../src/codec/queue/index.js';
import {
  DEDUPLICATION_WINDOW_MS,
  derivedMessageId,
  type Envelope,
  MAX_ATTEMPT_RESTARTS,
  type QueueEvent,
  type QueueEventOf,
} from '../../src/domain/queue/index.js';
import type { RunPart } from '../../src/domain/queue/runs/index.js';
import type { MessageId, PartitionName, ShardName } from '../../src/kernel/index.js';
import { intakeOf } from '../../src/protocol/index.js';
import type { SimServer } from './sim-server.js';
import { Violation } from './violation.js';

export interface LedgerMessage {
  readonly id: MessageId;
  readonly partition: PartitionName;
  /** The part of the message in a run, if it belongs to one. */
  readonly part: RunPart | undefined;
  readonly envelope: Envelope;
  readonly body: number;
  readonly order: number;
  readonly acceptedAtMs: number;
  readonly notBeforeMs: number;
  /** The due time of the next attempt. */
  dueAtMs: number;
  /** The retries of the open or the next attempt. */
  retried: number;
  restarts: number;
  isOpen: boolean;
  hasStarted: boolean;
  isCancelRequested: boolean;
  end: 'delivered' | 'dead' | 'cancelled' | undefined;
  /** The number of starts of each attempt, by epoch and retries. */
  readonly starts: Map<string, number>;
}

/** A rule that gets each event after the ledger has applied it. */
export interface LedgerRule {
  event(event: QueueEvent, partition: PartitionName, ledger: QueueLedger): void;
}

export type Report = (promise: string, message: string) => void;

export class QueueLedger {
  readonly messages = new Map<MessageId, LedgerMessage>();
  /** The messages that were accepted and have not ended. */
  readonly pending = new Set<LedgerMessage>();
  /** The ids of messages in an intake. */
  readonly told = new Set<MessageId>();
  readonly epochs = new Map<ShardName, number>();
  /** The latest instant of any entry. */
  clockMs = 0;
  /** The creation times of active runs. */
  private readonly activeRuns = new Map<string, number>();
  private readonly bodies = new Map<string, Uint8Array>();
  private readonly reservations = new Map<string, number>();
  /** Events that must follow in the current entry. */
  private readonly owed = new Map<string, string>();
  private accepted = 0;

  constructor(
    private readonly report: Report,
    private readonly rules: readonly LedgerRule[],
  ) {}

  /** Checks each new entry from now on. */
  watch(server: SimServer, shard: ShardName): void {
    const assembler = new EntryAssembler();
    const stream = server.streams.get(shard);
    const intake = server.streams.get(intakeOf(shard));
    if (stream === undefined || intake === undefined) throw new Error(`${shard} has no journal or no intake`);
    stream.followers.add(() => {
      const message = stream.archive.at(-1);
      const read = message === undefined ? undefined : assembler.add(message.position, message.bytes);
      if (read !== undefined) this.entry(shard, read);
    });
    intake.followers.add(() => {
      const message = intake.archive.at(-1);
      if (message === undefined) return;
      for (const { id } of decodeIntakeRecord(message.bytes).items) this.told.add(id);
    });
  }

  /** Requires a further event in the current entry. */
  owe(key: string, missing: string): void {
    this.owed.set(key, missing);
  }

  settled(key: string): void {
    this.owed.delete(key);
  }

  bodyOf({ partition, body }: LedgerMessage): Uint8Array {
    return body === 0 ? new Uint8Array(0) : (this.bodies.get(`${partition} ${body}`) ?? new Uint8Array(0));
  }

  private entry(shard: ShardName, { entry }: ReadEntry): void {
    this.epochs.set(shard, entry.epoch);
    this.clockMs = Math.max(this.clockMs, entry.clockMs);
    if (entry.body.kind !== 'batch') return;
    for (const { partition, effects } of entry.body.sections) {
      for (const event of decodeQueueEvents(effects)) {
        this.apply(event, partition, entry.epoch);
        for (const rule of this.rules) rule.event(event, partition, this);
      }
    }
    const [missing] = this.owed.values();
    if (missing !== undefined) this.report('an outcome and what follows from it are one entry', missing);
    this.owed.clear();
  }

  private apply(event: QueueEvent, partition: PartitionName, epoch: number): void {
    switch (event.type) {
      case 'MessageAccepted':
        this.accept(event, partition);
        return;
      case 'ScheduleSet':
        this.keep(partition, event.body);
        return;
      case 'AttemptStarted':
        this.start(event, epoch);
        return;
      case 'MessageDelivered':
        this.outcome(event);
        this.end(event.id, 'delivered');
        return;
      case 'AttemptFailed':
        this.fail(event);
        return;
      case 'MessageDeadLettered':
        this.owed.delete(`end ${event.id}`);
        this.end(event.id, 'dead');
        return;
      case 'RunStarted':
        this.activeRuns.set(`${partition} ${event.runId}`, event.atMs);
        return;
      case 'RunEnded':
        this.activeRuns.delete(`${partition} ${event.runId}`);
        return;
      case 'CancelRequested':
        this.known(event.id).isCancelRequested = true;
        return;
      case 'MessageCancelled':
        if (!this.mayBeCancelled(this.known(event.id))) this.report('who is cancelled was asked to be', event.id);
        this.owed.delete(`end ${event.id}`);
        this.end(event.id, 'cancelled');
        return;
      default:
        return;
    }
  }

  /** SQL1. */
  private accept(event: QueueEventOf<'MessageAccepted'>, partition: PartitionName): void {
    const { id, atMs, envelope, body, notBeforeMs, deduplication } = event;
    this.owed.delete(`callback ${id}`);
    this.keep(partition, body);
    if (this.messages.has(id)) this.report('a message is accepted once', `${id} was accepted again`);
    if (deduplication !== undefined) {
      const key = `${partition} ${deduplication}`;
      const earlierMs = this.reservations.get(key);
      if (earlierMs !== undefined && atMs - earlierMs < DEDUPLICATION_WINDOW_MS)
        this.report('a deduplication id accepts one message', `${id} at ${atMs}, another at ${earlierMs}`);
      this.reservations.set(key, atMs);
    }
    this.accepted += 1;
    const message: LedgerMessage = {
      id,
      partition,
      part: event.workflow,
      envelope,
      body: body.number,
      order: this.accepted,
      acceptedAtMs: atMs,
      notBeforeMs,
      dueAtMs: notBeforeMs,
      retried: 0,
      restarts: 0,
      isOpen: false,
      hasStarted: false,
      isCancelRequested: false,
      end: undefined,
      starts: new Map(),
    };
    this.messages.set(id, message);
    this.pending.add(message);
  }

  /** SQL2. */
  private start({ id, atMs, retried, restarts }: QueueEventOf<'AttemptStarted'>, epoch: number): void {
    const message = this.known(id);
    const { maxRetries } = message.envelope.settings;
    const expected = message.isOpen ? message.restarts + 1 : 0;
    const isNext = retried === message.retried && restarts === expected && message.end === undefined;
    if (!isNext || retried > maxRetries || restarts > MAX_ATTEMPT_RESTARTS)
      this.report(
        'attempts are counted before they are made',
        `${id} (${message.end ?? 'pending'}) starts ${retried}/${restarts} after ${message.retried}/${message.restarts}`,
      );
    if (atMs < message.dueAtMs)
      this.report('nothing is sent before it is due', `${id} at ${atMs}, due at ${message.dueAtMs}`);
    message.isOpen = true;
    message.hasStarted = true;
    message.restarts = restarts;
    const key = `${epoch} ${retried}`;
    message.starts.set(key, (message.starts.get(key) ?? 0) + 1);
  }

  private fail(event: QueueEventOf<'AttemptFailed'>): void {
    const { id, nextAtMs } = event;
    const message = this.outcome(event);
    if (nextAtMs === undefined) {
      this.owed.set(`end ${id}`, `${id} failed for the last time, and is neither in the DLQ nor cancelled`);
      const { failureCallback } = message.envelope.settings;
      if (failureCallback !== undefined && !message.isCancelRequested) this.oweCallback(message, 'failure');
      return;
    }
    message.isOpen = false;
    message.retried += 1;
    message.restarts = 0;
    message.dueAtMs = nextAtMs;
  }

  /** SQL3. */
  private outcome({ id }: { readonly id: MessageId }): LedgerMessage {
    const message = this.known(id);
    if (!message.isOpen) this.report('an outcome is of an open attempt', `${id} has none`);
    if (message.envelope.settings.callback !== undefined) this.oweCallback(message, 'callback');
    return message;
  }

  private oweCallback({ id, retried }: LedgerMessage, kind: 'callback' | 'failure'): void {
    const callback = derivedMessageId(`${id} ${kind} ${retried}`);
    if (!this.messages.has(callback)) this.owed.set(`callback ${callback}`, `${id} has no ${kind} for ${retried}`);
  }

  private end(id: MessageId, end: NonNullable<LedgerMessage['end']>): void {
    const message = this.known(id);
    if (message.end !== undefined) this.report('a message ends once', `${id} was ${message.end}, now ${end}`);
    message.end = end;
    message.isOpen = false;
    this.pending.delete(message);
  }

  /** Messages of a run may be cancelled together with the run. */
  private mayBeCancelled({ isCancelRequested, partition, part }: LedgerMessage): boolean {
    if (isCancelRequested || part === undefined) return isCancelRequested;
    return this.activeRuns.get(`${partition} ${part.runId}`) !== part.runCreatedAtMs;
  }

  private keep(partition: PartitionName, body: { number: number; content: Uint8Array | undefined }): void {
    if (body.content !== undefined) this.bodies.set(`${partition} ${body.number}`, body.content);
  }

  private known(id: MessageId): LedgerMessage {
    const message = this.messages.get(id);
    if (message === undefined) throw new Violation('the journal is of accepted messages', `${id} is not one`);
    return message;
  }
}
