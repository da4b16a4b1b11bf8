/**
 * Reads one shard's journal for one trigger, and hands the selected changes to the owner of the account's queue, as the
 * relay of outboxes does (docs/decisions/queue.md, Triggers).
 *
 *  TRL1 changes are handed over in the order of the journal, with one request at a time
 *  TRL2 the queue's journal has the position, in the entry that accepts the records; a repetition changes no state
 *  TRL3 no change is skipped: a refused record is sent again until the account takes it
 *  TRL4 a trigger of a snapshot hands over all keys as they were at its start first, then the changes after that
 *  TRL5 a journal of a former layout is read up to its end, and the account then has that position
 */
import type { Trigger } from '../../domain/control/index.js';
import type { QueueReply, SequencedCall } from '../../domain/queue/index.js';
import { Chain, EntryFeed, followLog, readEntryAt } from '../../journal/index.js';
import { type ByteBudget, describeError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { QueueGateway, StoragePorts, StoredMessage } from '../../ports/index.js';
import type { ChangedKey } from './change-record.js';
import { type ChangeSource, entryChanges, type ReadChanges } from './entry-changes.js';
import { KeySelection } from './key-selection.js';
import type { RelayPlace } from './layout-parts.js';
import { PartitionCopies } from './partition-copies.js';
import { type MessagePorts, messageOf, type TriggerAccounts } from './trigger-messages.js';
import { placeOf, sequenceAfter, sequencesOf, snapshotSourceOf } from './trigger-position.js';

/** Records of one request; deciding them takes about two milliseconds. */
const MOST_RECORDS = 100;
const MOST_BYTES = 256 * 1024;
/** Bytes of the journal that wait in memory while the account takes records. */
const MAX_QUEUED_BYTES = 1024 * 1024;
/** Entries are collected so long, to share one entry of the queue's journal. */
const LINGER_MS = 20;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** The position without a record is stored after so long, so that a takeover does not read further back. */
const ADVANCE_AFTER_MS = 5_000;
/** The relays of the former layout are asked so often whether they have ended. */
const FORMER_LOOK_MS = 250;

export interface TriggerRelayPorts extends StoragePorts, MessagePorts {
  readonly queue: Pick<QueueGateway, 'ask'>;
  readonly accounts: TriggerAccounts;
  readonly copyBudget: ByteBudget;
}

export class TriggerRelay {
  readonly #stop = new AbortController();
  readonly #selection: KeySelection;
  #failures = 0;
  /** The reason why it does not go on at present. */
  problem: string | undefined;
  /** The time of the oldest change that is read and not taken. */
  #oldestAtMs: number | undefined;
  #advancedAtMs = 0;
  #takenUpTo = 0;

  constructor(
    private readonly ports: TriggerRelayPorts,
    readonly trigger: Trigger,
    private readonly place: RelayPlace,
  ) {
    this.#selection = new KeySelection(trigger);
  }

  get lagMs(): number {
    return this.#oldestAtMs === undefined ? 0 : Math.max(0, this.ports.clock.nowMs() - this.#oldestAtMs);
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#relay(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        await this.#failed(error);
      }
    }
  }

  async #failed(error: unknown): Promise<void> {
    this.problem = describeError(error);
    const details = { trigger: this.trigger.id, shard: this.place.shard, cause: this.problem };
    if (this.#failures % 12 === 0) this.ports.log.warn('trigger.not-sent', details);
    const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    await this.ports.timers.pause(waitMs, this.#stop.signal);
  }

  /** Ends when it is stopped, or at the end of a former layout. */
  async #relay(signal: AbortSignal): Promise<void> {
    const { trigger, place } = this;
    const { start, end } = place;
    await this.#awaitFormer(signal);
    this.#takenUpTo = await this.#take(place.source, []);
    if (place.isFirst && trigger.from === 'snapshot' && this.#takenUpTo < sequenceAfter(start)) {
      await this.#sendSnapshot(start, signal);
    }
    this.#takenUpTo = Math.max(this.#takenUpTo, sequenceAfter(start));
    if (end === undefined || this.#takenUpTo < sequenceAfter(end)) await this.#read(signal);
    if (end === undefined || signal.aborted) return;
    this.#takenUpTo = await this.#take(place.source, [], sequenceAfter(Math.max(start, end)));
  }

  /** TLP1 */
  async #awaitFormer(signal: AbortSignal): Promise<void> {
    for (const [source, sequence] of this.place.after) {
      while (!signal.aborted && (await this.#take(source, [])) < sequence) {
        await this.ports.timers.pause(FORMER_LOOK_MS, signal);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { shard } = this.place;
    const { position, isWhole } = placeOf(this.#takenUpTo);
    const { first } = await this.ports.journal.tail(shard);
    if (position + 1 < first) throw notKept(shard, position + 1);
    const source = await this.#source(isWhole ? position : position - 1, signal);
    try {
      if (!isWhole) await this.#handOn(source, [await this.#entryAt(position)], signal);
      await this.#follow(source, position, signal);
    } finally {
      source.copies?.close();
    }
  }

  /** The entry of which a part was taken. @throws INVALID when it is no longer kept */
  async #entryAt(position: number): Promise<ReadChanges> {
    const { journal, timers } = this.ports;
    const { shard } = this.place;
    const entry = await readEntryAt(journal, shard, position, () => timers.yieldToEventLoop());
    if (entry === undefined) throw notKept(shard, position);
    return { entry, position };
  }

  async #source(position: number, signal: AbortSignal): Promise<ChangeSource> {
    const { ports, trigger } = this;
    const { shard, partitions } = this.place;
    const { account } = trigger;
    const needsCopies = trigger.filter !== '' || trigger.values.length > 0;
    const copies = needsCopies
      ? await PartitionCopies.at(ports, { account, shard, partitions, position }, signal)
      : undefined;
    return { shard, partitions, selection: this.#selection, copies };
  }

  /** Ends with an error, from which `#run` begins again, at the end of a former layout, or when stopped. */
  async #follow(source: ChangeSource, after: number, stopped: AbortSignal): Promise<void> {
    const { journal, timers } = this.ports;
    const { shard, end = Number.POSITIVE_INFINITY } = this.place;
    if (after >= end) return;
    const entries = new EntryFeed(new Chain(shard, undefined));
    const ended = new AbortController();
    let failure: unknown;
    await followLog(
      timers,
      {
        follow: (from, follower) => journal.follow(shard, from, follower),
        begin: async () => after,
        take: async (batch, signal) => {
          const read = batch.flatMap((message: StoredMessage) => entries.add(message) ?? []);
          const own = read.filter(({ position }) => position <= end);
          await this.#handOn(source, own, signal);
          if (read.some(({ position }) => position >= end)) ended.abort();
        },
        idle: () => {
          this.#oldestAtMs = undefined;
        },
        failed: (error) => {
          failure = error;
          return false;
        },
      },
      { shard, maxQueuedBytes: MAX_QUEUED_BYTES, lingerMs: LINGER_MS, retryMs: FIRST_RETRY_MS },
      AbortSignal.any([stopped, ended.signal]),
    );
    if (failure !== undefined) throw failure;
  }

  async #handOn(source: ChangeSource, entries: readonly ReadChanges[], signal: AbortSignal): Promise<void> {
    const { source: name, partitions } = this.place;
    let last: ReadChanges | undefined;
    const batch = new Batch();
    for (const read of entries) {
      last = read;
      const sequenceOf = sequencesOf(partitions, read);
      for (const change of entryChanges(source, read)) {
        const sequence = sequenceOf(change.index);
        if (sequence <= this.#takenUpTo) continue;
        if (batch.isFullBefore(sequence)) await this.#send(name, batch, signal);
        this.#oldestAtMs ??= change.atMs;
        batch.add(sequence, this.#call(change));
      }
    }
    await this.#send(name, batch, signal);
    this.#oldestAtMs = undefined;
    this.#failures = 0;
    this.problem = undefined;
    if (last !== undefined) await this.#advance(name, sequenceAfter(last.position));
  }

  async #sendSnapshot(position: number, signal: AbortSignal): Promise<void> {
    const { ports, trigger } = this;
    const { shard, partitions, source } = this.place;
    const place = { account: trigger.account, shard, partitions, position };
    const copies = await PartitionCopies.at(ports, place, signal);
    try {
      await this.#sendCopies(copies, position, signal);
    } finally {
      copies.close();
    }
    if (!signal.aborted) await this.#take(source, [], sequenceAfter(position));
  }

  async #sendCopies(copies: PartitionCopies, position: number, signal: AbortSignal): Promise<void> {
    const { trigger } = this;
    const { shard, source } = this.place;
    const name = snapshotSourceOf(source, position);
    const taken = await this.#take(name, []);
    const atMs = trigger.createdAtMs;
    const batch = new Batch();
    for (const [at, [key, partition]] of copies.keys().entries()) {
      if (at < taken || !this.#selection.hasKey(key)) continue;
      const after = copies.look(partition, key);
      if (trigger.filter !== '' && !this.#selection.passes(undefined, after?.value)) continue;
      const change = { shard, position, index: at, atMs, effect: undefined, key, before: undefined, after };
      if (batch.isFullBefore(at + 1)) await this.#send(name, batch, signal);
      this.#oldestAtMs ??= atMs;
      batch.add(at + 1, this.#call(change));
    }
    await this.#send(name, batch, signal);
  }

  #call(change: ChangedKey) {
    const { trigger, ports } = this;
    const terms = ports.accounts.termsOf(trigger.account);
    if (terms === undefined) throw new MillraceError('SHARD_UNAVAILABLE', 'the account is not known here yet');
    return messageOf(ports, trigger, terms, change);
  }

  /** Resolves when all records are taken (TRL3). */
  async #send(name: string, batch: Batch, signal: AbortSignal): Promise<void> {
    let most = MOST_RECORDS;
    while (!batch.isEmpty && !signal.aborted) {
      const records = batch.first(most);
      try {
        const taken = await this.#take(name, records);
        batch.taken(taken);
        this.#failures = 0;
        if (name === this.place.source) this.#takenUpTo = Math.max(this.#takenUpTo, taken);
        this.#advancedAtMs = this.ports.clock.monotonicMs();
        most = Math.min(MOST_RECORDS, most * 2);
      } catch (error) {
        // One of the records may be the cause: fewer are sent.
        most = Math.max(1, Math.floor(records.length / 2));
        if (records.length <= 1 || !(error instanceof Refused)) await this.#failed(error);
      }
    }
  }

  /** @returns the sequence up to which the account has the records of this source. @throws Refused */
  async #take(source: string, records: readonly SequencedCall[], upTo?: number): Promise<number> {
    const reply: QueueReply = await this.ports.queue.ask(this.trigger.account, {
      type: 'TakeOutbox',
      source,
      records,
      upTo,
    });
    if (reply.type === 'OutboxTaken') return reply.sequence;
    throw new Refused(reply.type === 'Rejected' ? reply.message : `an answer of the type ${reply.type}`);
  }

  /** Remembers entries without selected changes, now and then. */
  async #advance(name: string, sequence: number): Promise<void> {
    const nowMs = this.ports.clock.monotonicMs();
    if (nowMs - this.#advancedAtMs < ADVANCE_AFTER_MS || sequence <= this.#takenUpTo) return;
    this.#advancedAtMs = nowMs;
    this.#takenUpTo = await this.#take(name, [], sequence);
  }
}

export function notKept(shard: ShardName, position: number): MillraceError {
  const text = `the journal of ${shard} does not have position ${position} any more: skip to a later moment`;
  return new MillraceError('INVALID', text, { shard, position });
}

/** The account's refusal of a record. */
class Refused extends Error {}

/** Records in order. Those with one sequence are sent together. */
class Batch {
  #records: SequencedCall[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#records.length === 0;
  }

  /** Whether the records have to be sent before one with this sequence. */
  isFullBefore(sequence: number): boolean {
    const isFull = this.#records.length >= MOST_RECORDS || this.#bytes >= MOST_BYTES;
    return isFull && this.#records.at(-1)?.sequence !== sequence;
  }

  add(sequence: number, call: SequencedCall['call']): void {
    this.#records.push({ sequence, call });
    if (call.kind === 'publish') this.#bytes += call.item.body.length;
  }

  first(most: number): readonly SequencedCall[] {
    let end = Math.min(most, this.#records.length);
    while (end < this.#records.length && this.#records[end]?.sequence === this.#records[end - 1]?.sequence) end += 1;
    return this.#records.slice(0, end);
  }

  taken(upTo: number): void {
    this.#records = this.#records.filter(({ sequence }) => sequence > upTo);
    if (this.isEmpty) this.#bytes = 0;
  }
}
