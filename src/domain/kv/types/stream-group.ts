/**
 * A consumer group of a stream: its position, its consumers, and the entries that were delivered and not acknowledged.
 *
 * Invariants
 *
 *  SG1 `pending` holds the same objects as the `pending` of its consumers and of `released` together
 *  SG2 its bytes are added to the ledger with every change and depend only on its contents
 */

import type { ByteString } from '../../../kernel/index.js';
import type { UndoRecorder } from '../value.js';
import { OrderedBlocks } from './ordered-blocks.js';
import type { StreamId } from './stream-id.js';
import { ENTRIES_A_SLICE } from './stream-limits.js';

/** The number of entries read, if it cannot be determined. */
export const UNKNOWN_COUNT = -1;
/** An unknown time: the event has not happened yet, or the process that observed it is gone. */
export const NEVER = -1;

/** Measured roughly on a million of each. */
const GROUP_OVERHEAD_BYTES = 400;
const CONSUMER_OVERHEAD_BYTES = 300;
const PENDING_OVERHEAD_BYTES = 96;

/** An entry that was delivered and not acknowledged. */
export interface PendingEntry {
  consumer: Consumer;
  deliveredAtMs: number;
  deliveries: number;
}

export class Consumer {
  /** The time of its last command. Not journaled; after a replay it is the time of the last delivery. */
  seenAtMs = NEVER;
  /** The time of its last delivery; not journaled either. */
  activeAtMs = NEVER;
  pending = new OrderedBlocks<PendingEntry>();

  constructor(readonly name: ByteString) {}

  seen(atMs: number): void {
    if (atMs > this.seenAtMs) this.seenAtMs = atMs;
  }

  active(atMs: number): void {
    this.seen(atMs);
    if (atMs > this.activeAtMs) this.activeAtMs = atMs;
  }
}

/** Counts the bytes of all groups of a stream, and records their changes for an undo, except bytes and positions. */
export interface Ledger {
  bytes: number;
  undo: UndoRecorder | undefined;
}

export class ConsumerGroup {
  pending = new OrderedBlocks<PendingEntry>();
  readonly #consumers = new Map<ByteString, Consumer>();
  /** Has the pending entries that XNACK released from their consumers; it is none of the group's consumers. */
  readonly released = new Consumer('');

  constructor(
    readonly name: ByteString,
    readonly ledger: Ledger,
    /** The last entry that was delivered to any consumer. */
    public lastId: StreamId,
    /** The number of entries read since the stream was created, or UNKNOWN_COUNT. */
    public entriesRead: number,
  ) {
    ledger.bytes += GROUP_OVERHEAD_BYTES + name.length;
  }

  get consumerCount(): number {
    return this.#consumers.size;
  }

  consumer(name: ByteString): Consumer | undefined {
    return this.#consumers.get(name);
  }

  /** Sorted by name, as Redis shows them. */
  consumers(): Consumer[] {
    return [...this.#consumers.values()].sort(byName);
  }

  addConsumer(name: ByteString): Consumer {
    const consumer = new Consumer(name);
    this.#consumers.set(name, consumer);
    this.ledger.undo?.push(() => this.#consumers.delete(name));
    this.ledger.bytes += CONSUMER_OVERHEAD_BYTES + name.length;
    return consumer;
  }

  /** Removes the consumer with its pending entries; returns their number. */
  *removeConsumer(consumer: Consumer): Generator<void, number> {
    const count = consumer.pending.size;
    const putBack = (): void => {
      this.#consumers.set(consumer.name, consumer);
      for (const [id, pending] of consumer.pending.entries()) this.pending.set(id, pending);
    };
    this.ledger.undo?.push(putBack, 0, 1 + count);
    let removed = 0;
    for (const [id] of consumer.pending.entries()) {
      this.pending.delete(id);
      removed += 1;
      if (removed % ENTRIES_A_SLICE === 0) yield;
    }
    this.#consumers.delete(consumer.name);
    this.ledger.bytes -= CONSUMER_OVERHEAD_BYTES + consumer.name.length + count * PENDING_OVERHEAD_BYTES;
    return count;
  }

  /** Makes the entry pending for the consumer, replacing a previous one. */
  assign(id: StreamId, consumer: Consumer, deliveredAtMs: number, deliveries: number): void {
    const known = this.pending.get(id);
    if (known === undefined) {
      const pending: PendingEntry = { consumer, deliveredAtMs, deliveries };
      this.pending.set(id, pending);
      consumer.pending.set(id, pending);
      this.ledger.bytes += PENDING_OVERHEAD_BYTES;
      this.ledger.undo?.push(() => this.#drop(id, pending));
      return;
    }
    this.keep(id, known);
    if (known.consumer !== consumer) {
      known.consumer.pending.delete(id);
      consumer.pending.set(id, known);
      known.consumer = consumer;
    }
    known.deliveredAtMs = deliveredAtMs;
    known.deliveries = deliveries;
  }

  /** Removes a pending entry; false if it was not pending. */
  acknowledge(id: StreamId): boolean {
    const pending = this.pending.delete(id);
    if (pending === undefined) return false;
    pending.consumer.pending.delete(id);
    this.ledger.bytes -= PENDING_OVERHEAD_BYTES;
    this.ledger.undo?.push(() => this.#put(id, pending));
    return true;
  }

  /** To be called before a pending entry is changed from outside. */
  keep(id: StreamId, pending: PendingEntry): void {
    const { undo } = this.ledger;
    if (undo === undefined) return;
    const before = { ...pending };
    undo.push(() => {
      this.#drop(id, pending);
      Object.assign(pending, before);
      this.#put(id, pending);
    });
  }

  #put(id: StreamId, pending: PendingEntry): void {
    this.pending.set(id, pending);
    pending.consumer.pending.set(id, pending);
  }

  #drop(id: StreamId, pending: PendingEntry): void {
    this.pending.delete(id);
    pending.consumer.pending.delete(id);
  }

  /** To be called when the group is removed from its stream. */
  leave(): void {
    for (const consumer of this.#consumers.values()) {
      this.ledger.bytes -= CONSUMER_OVERHEAD_BYTES + consumer.name.length;
    }
    this.ledger.bytes -= GROUP_OVERHEAD_BYTES + this.name.length + this.pending.size * PENDING_OVERHEAD_BYTES;
  }

  clone(ledger: Ledger): ConsumerGroup {
    const copy = new ConsumerGroup(this.name, ledger, this.lastId, this.entriesRead);
    for (const { name, seenAtMs, activeAtMs } of this.#consumers.values()) {
      Object.assign(copy.addConsumer(name), { seenAtMs, activeAtMs });
    }
    for (const [id, { consumer, deliveredAtMs, deliveries }] of this.pending.entries()) {
      const theirs = consumer === this.released ? copy.released : (copy.consumer(consumer.name) as Consumer);
      copy.assign(id, theirs, deliveredAtMs, deliveries);
    }
    return copy;
  }
}

export function byName(a: { readonly name: ByteString }, b: { readonly name: ByteString }): number {
  return a.name < b.name ? -1 : 1;
}
