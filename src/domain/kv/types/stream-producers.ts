/**
 * The producers of a stream: for each, the ids of its last messages with the entries that they became, so that a
 * repeated message is recognised.
 *
 * Invariants
 *
 *  SMP1 a producer has at most `maxIds` ids, and a stream at most MAX_PRODUCERS producers: the oldest are forgotten
 *  SMP2 the contents depend only on the recorded ids, never on a clock: an id that is too old is only not found
 */
import type { ByteString } from '../../../kernel/index.js';
import type { UndoRecorder } from '../value.js';
import { formatId, millisecondsOf, type StreamId } from './stream-id.js';

/** The defaults of Redis. */
export const DEFAULT_ID_SECONDS = 100;
export const DEFAULT_MAX_IDS = 100;
/** A producer that restarts often takes a new name each time. */
export const MAX_PRODUCERS = 1000;

const OVERHEAD_BYTES = 120;
const PRODUCER_OVERHEAD_BYTES = 200;
const ID_OVERHEAD_BYTES = 120;

interface Producer {
  readonly entries: Map<ByteString, StreamId>;
  /** The ids from `first` on, oldest first. */
  order: ByteString[];
  first: number;
}

export interface ProducerSettings {
  readonly seconds: number;
  readonly maxIds: number;
}

export class StreamProducers {
  #producers = new Map<ByteString, Producer>();
  #bytes = OVERHEAD_BYTES;
  /** Recorded ids and repeated messages since the stream was loaded. */
  added = 0;
  duplicates = 0;

  constructor(public settings: ProducerSettings) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Producers and ids that are young enough. */
  tracked(nowMs: number): { readonly producers: number; readonly ids: number } {
    let [producers, ids] = [0, 0];
    for (const { entries } of this.#producers.values()) {
      let found = 0;
      for (const id of entries.values()) if (this.#isYoung(id, nowMs)) found += 1;
      if (found > 0) producers += 1;
      ids += found;
    }
    return { producers, ids };
  }

  /** The entry that the message became (SMP2: an id that is too old is not found). */
  find(producer: ByteString, id: ByteString, nowMs: number): StreamId | undefined {
    const entry = this.#producers.get(producer)?.entries.get(id);
    return entry !== undefined && this.#isYoung(entry, nowMs) ? entry : undefined;
  }

  /** Records an id, and forgets the oldest ones (SMP1). A known id is forgotten first, with all older ones. */
  record(name: ByteString, id: ByteString, entry: StreamId, undo: UndoRecorder | undefined): void {
    const producer = this.#producers.get(name) ?? this.#newProducer(name);
    this.#producers.delete(name);
    this.#producers.set(name, producer);
    while (producer.entries.has(id)) this.#forgetOldest(producer, undo);
    producer.entries.set(id, entry);
    producer.order.push(id);
    this.#bytes += ID_OVERHEAD_BYTES + id.length;
    undo?.push(() => {
      producer.entries.delete(id);
      producer.order.pop();
    });
    while (producer.entries.size > this.settings.maxIds) this.#forgetOldest(producer, undo);
    if (undo === undefined && producer.first > producer.order.length / 2) {
      producer.order = producer.order.slice(producer.first);
      producer.first = 0;
    }
    this.added += 1;
  }

  /** Forgets all producers. */
  configure(settings: ProducerSettings): void {
    this.settings = settings;
    this.#producers = new Map();
    this.#bytes = OVERHEAD_BYTES;
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield configureCommand(key, this.settings);
    for (const [name, id, entry] of this.#records()) yield recordCommand(key, name, id, entry);
  }

  *contents(): Iterable<ByteString> {
    yield `${this.settings.seconds} ${this.settings.maxIds}`;
    for (const record of this.#records()) yield* record;
  }

  keepState(undo: UndoRecorder): void {
    const { settings, added, duplicates } = this;
    const bytes = this.#bytes;
    const producers = [...this.#producers];
    undo.push(() => {
      Object.assign(this, { settings, added, duplicates });
      this.#bytes = bytes;
      this.#producers = new Map(producers);
    });
  }

  clone(): StreamProducers {
    const copy = new StreamProducers(this.settings);
    for (const [name, { entries, order, first }] of this.#producers) {
      copy.#producers.set(name, { entries: new Map(entries), order: order.slice(first), first: 0 });
    }
    copy.#bytes = this.#bytes;
    return copy;
  }

  /** Producer, id, entry: in the order in which recording them again gives the same contents. */
  *#records(): Iterable<[producer: ByteString, id: ByteString, entry: StreamId]> {
    for (const [name, { entries, order, first }] of this.#producers) {
      for (let at = first; at < order.length; at += 1) {
        const id = order[at] as ByteString;
        yield [name, id, entries.get(id) as StreamId];
      }
    }
  }

  #isYoung(entry: StreamId, nowMs: number): boolean {
    return nowMs - millisecondsOf(entry) < this.settings.seconds * 1000;
  }

  #newProducer(name: ByteString): Producer {
    if (this.#producers.size >= MAX_PRODUCERS) {
      const [oldest = ''] = this.#producers.keys();
      const { entries } = this.#producers.get(oldest) as Producer;
      this.#bytes -= PRODUCER_OVERHEAD_BYTES + oldest.length;
      for (const id of entries.keys()) this.#bytes -= ID_OVERHEAD_BYTES + id.length;
      this.#producers.delete(oldest);
    }
    this.#bytes += PRODUCER_OVERHEAD_BYTES + name.length;
    return { entries: new Map(), order: [], first: 0 };
  }

  #forgetOldest(producer: Producer, undo: UndoRecorder | undefined): void {
    const id = producer.order[producer.first] as ByteString;
    const entry = producer.entries.get(id) as StreamId;
    producer.first += 1;
    producer.entries.delete(id);
    this.#bytes -= ID_OVERHEAD_BYTES + id.length;
    undo?.push(() => {
      producer.first -= 1;
      producer.entries.set(id, entry);
    }, id.length);
  }
}

export function configureCommand(key: ByteString, { seconds, maxIds }: ProducerSettings): ByteString[] {
  return ['XCFGSET', key, 'IDMP-DURATION', String(seconds), 'IDMP-MAXSIZE', String(maxIds)];
}

export function recordCommand(key: ByteString, producer: ByteString, id: ByteString, entry: StreamId): ByteString[] {
  return ['XIDMPRECORD', key, producer, id, formatId(entry)];
}
