/**
 * Converts a stream between its rebuilding commands and Redis's RDB format: nodes of entries (each a listpack under the
 * id of its first entry), then counters, groups, and pending entries by consumer.
 */
import { type ByteString, getOrCreate } from '../../../../kernel/index.js';
import { mergeSorted, SlicePace } from '../../slices.js';
import { decodeListpack, encodeListpack } from './listpack.js';
import { BadFormat, type RdbReader } from './rdb-reader.js';
import type { RdbWriter } from './rdb-writer.js';

type Id = readonly [ms: bigint, seq: bigint];

interface Entry {
  readonly id: Id;
  readonly fields: readonly ByteString[];
}

interface Pending {
  /** Sorts like the ids. */
  readonly rawId: ByteString;
  readonly deliveredAtMs: bigint;
  readonly count: bigint;
  readonly consumer: ByteString;
}

interface OwnPending {
  readonly rawIds: ByteString[];
  latestMs: number;
}

interface Group {
  readonly name: ByteString;
  lastId: Id;
  entriesRead: bigint | undefined;
  readonly consumers: Set<ByteString>;
  readonly pending: Map<ByteString, Pending>;
}

/** Messages of producers with the entries that they became. */
interface Messages {
  readonly seconds: number;
  readonly maxIds: number;
  readonly byProducer: Map<ByteString, [message: ByteString, entry: Id][]>;
}

/** The number of entries that Redis puts into a node. */
const NODE_ENTRIES = 100;
const DELETED = 1;
const SAME_FIELDS = 2;
/** Words of an entry other than its fields: flags, two id differences, the number of words. */
const ENTRY_WORDS = 3;
const UNKNOWN_READ = 0xffff_ffff_ffff_ffffn;
const ZERO: Id = [0n, 0n];

/** Collects rebuilding commands and writes the resulting stream. */
export class StreamForm {
  #entries = new Map<ByteString, Entry>();
  #lastId: Id = ZERO;
  #maxDeletedId: Id = ZERO;
  #added: bigint | undefined;
  readonly #groups = new Map<ByteString, Group>();
  #messages: Messages | undefined;

  /** Whether the stream knows messages of producers, which need a newer form. */
  get knowsMessages(): boolean {
    return this.#messages !== undefined;
  }

  take(words: readonly ByteString[]): void {
    const name = words[0];
    if (name === 'XADD') {
      const id = idOf(words[2]);
      this.#entries.set(words[2] as ByteString, { id, fields: words.slice(3) });
      this.#lastId = id;
    } else if (name === 'XDEL') {
      for (const id of words.slice(2)) this.#entries.delete(id);
    } else if (name === 'XTRIM') {
      this.#entries.clear();
    } else if (name === 'XSETID') {
      this.#lastId = idOf(words[2]);
      this.#added = BigInt(optionOf(words, 'ENTRIESADDED') ?? 0);
      this.#maxDeletedId = idOf(optionOf(words, 'MAXDELETEDID') ?? '0-0');
    } else if (name === 'XGROUP') {
      this.#takeGroup(words);
    } else if (name === 'XCLAIM') {
      this.#takeClaim(words);
    } else if (name === 'XNACK') {
      this.#takeRelease(words);
    } else if (name === 'XCFGSET') {
      this.#messages = { seconds: Number(words[3]), maxIds: Number(words[5]), byProducer: new Map() };
    } else if (name === 'XIDMPRECORD') {
      const [, , producer = '', message = '', entry] = words;
      getOrCreate((this.#messages as Messages).byProducer, producer, () => []).push([message, idOf(entry)]);
    }
  }

  *write(out: RdbWriter): Generator<void, void> {
    const entries = [...this.#entries.values()];
    out.size(Math.ceil(entries.length / NODE_ENTRIES));
    for (let at = 0; at < entries.length; at += NODE_ENTRIES) {
      writeNode(out, entries.slice(at, at + NODE_ENTRIES));
      yield;
    }
    out.size(entries.length);
    writeId(out, this.#lastId);
    writeId(out, entries[0]?.id ?? ZERO);
    writeId(out, this.#maxDeletedId);
    out.size(this.#added ?? BigInt(entries.length));
    out.size(this.#groups.size);
    for (const group of this.#groups.values()) yield* writeGroup(out, group, this.knowsMessages);
    if (this.#messages !== undefined) yield* writeMessages(out, this.#messages);
  }

  #takeGroup(words: readonly ByteString[]): void {
    const [, subcommand, , name = ''] = words;
    if (subcommand === 'CREATE') {
      const read = optionOf(words, 'ENTRIESREAD');
      this.#groups.set(name, {
        name,
        lastId: idOf(words[4]),
        entriesRead: read === undefined || read === '-1' ? undefined : BigInt(read),
        consumers: new Set(),
        pending: new Map(),
      });
    } else if (subcommand === 'SETID') {
      const group = this.#groups.get(name) as Group;
      const read = optionOf(words, 'ENTRIESREAD');
      group.lastId = idOf(words[4]);
      group.entriesRead = read === undefined || read === '-1' ? undefined : BigInt(read);
    } else if (subcommand === 'CREATECONSUMER') {
      this.#groups.get(name)?.consumers.add(words[4] as ByteString);
    }
  }

  /** Older servers know no released entries, so a consumer with an empty name has them. */
  #takeRelease(words: readonly ByteString[]): void {
    const group = this.#groups.get(words[2] as ByteString) as Group;
    group.consumers.add('');
    const count = BigInt(optionOf(words, 'RETRYCOUNT') ?? 1);
    const end = 6 + Number(words[5]);
    for (const id of words.slice(6, end)) {
      group.pending.set(id, { rawId: rawId(idOf(id)), deliveredAtMs: 0n, count, consumer: '' });
    }
  }

  #takeClaim(words: readonly ByteString[]): void {
    const [, , groupName = '', consumer = ''] = words;
    const group = this.#groups.get(groupName) as Group;
    group.consumers.add(consumer);
    const deliveredAtMs = BigInt(optionOf(words, 'TIME') ?? 0);
    const count = BigInt(optionOf(words, 'RETRYCOUNT') ?? 1);
    for (let i = 5; i < words.length && /^[0-9]+-[0-9]+$/.test(words[i] as ByteString); i += 1) {
      const id = words[i] as ByteString;
      group.pending.set(id, { rawId: rawId(idOf(id)), deliveredAtMs, count, consumer });
    }
  }
}

function optionOf(words: readonly ByteString[], option: string): ByteString | undefined {
  // Searched from the end, because groups and consumers may have such names.
  const at = words.lastIndexOf(option);
  return at < 0 ? undefined : words[at + 1];
}

function idOf(text: ByteString | undefined): Id {
  const [ms = '0', seq = '0'] = (text ?? '0-0').split('-');
  return [BigInt(ms), BigInt(seq)];
}

function textOf([ms, seq]: Id): ByteString {
  return `${ms}-${seq}`;
}

function writeId(out: RdbWriter, [ms, seq]: Id): void {
  out.size(ms);
  out.size(seq);
}

function rawId([ms, seq]: Id): ByteString {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(ms, 0);
  bytes.writeBigUInt64BE(seq, 8);
  return bytes.toString('latin1');
}

function writeNode(out: RdbWriter, entries: readonly Entry[]): void {
  const first = entries[0] as Entry;
  const names = first.fields.filter((_, index) => index % 2 === 0);
  const words: (ByteString | number)[] = [entries.length, 0, names.length, ...names, 0];
  for (const { id, fields } of entries) {
    const own = fields.filter((_, index) => index % 2 === 0);
    const isSame = own.length === names.length && own.every((name, index) => name === names[index]);
    words.push(isSame ? SAME_FIELDS : 0, String(id[0] - first.id[0]), String(BigInt.asIntN(64, id[1] - first.id[1])));
    if (isSame) words.push(...fields.filter((_, index) => index % 2 === 1), ENTRY_WORDS + own.length);
    else words.push(own.length, ...fields, ENTRY_WORDS + 1 + fields.length);
  }
  out.string(rawId(first.id));
  out.string(encodeListpack(words));
}

function* writeMessages(out: RdbWriter, { seconds, maxIds, byProducer }: Messages): Generator<void, void> {
  out.size(seconds);
  out.size(maxIds);
  out.size(byProducer.size);
  const pace = new SlicePace();
  let added = 0;
  for (const [producer, messages] of byProducer) {
    out.string(producer);
    out.size(messages.length);
    for (const [message, entry] of messages) {
      out.string(message);
      writeId(out, entry);
      added += 1;
      if (pace.isDue()) yield;
    }
  }
  out.size(added);
  out.size(0);
}

function* writeGroup(
  out: RdbWriter,
  { name, lastId, entriesRead, consumers, pending }: Group,
  showsActivity: boolean,
): Generator<void, void> {
  out.string(name);
  writeId(out, lastId);
  out.size(entriesRead ?? UNKNOWN_READ);
  const pace = new SlicePace();
  const all = yield* mergeSorted([...pending.values()], (a, b) => (a.rawId < b.rawId ? -1 : 1));
  const own = new Map<ByteString, OwnPending>(
    [...consumers].map((consumer) => [consumer, { rawIds: [], latestMs: 0 }]),
  );
  out.size(all.length);
  for (const one of all) {
    out.raw(one.rawId);
    out.instant(Number(one.deliveredAtMs));
    out.size(one.count);
    const theirs = own.get(one.consumer) as OwnPending;
    theirs.rawIds.push(one.rawId);
    theirs.latestMs = Math.max(theirs.latestMs, Number(one.deliveredAtMs));
    if (pace.isDue()) yield;
  }
  out.size(own.size);
  for (const [consumer, { rawIds, latestMs }] of own) {
    out.string(consumer);
    // The last-seen time is not stored; the last delivery is the best approximation.
    out.instant(latestMs);
    if (showsActivity) out.instant(latestMs);
    out.size(rawIds.length);
    if (pace.isDue()) yield;
    for (const raw of rawIds) {
      out.raw(raw);
      if (pace.isDue()) yield;
    }
  }
}

/** Format versions: 2 adds counters, 3 the time when consumers were active, 4 producers. */
type StreamVersion = 1 | 2 | 3 | 4;

/**
 * Deleted entries may still be pending, but XCLAIM only accepts existing entries. So each group's pending entries are
 * first added, claimed and trimmed; the stream's entries are added afterwards, starting from the lowest id. @throws
 * BadFormat
 */
export function* readStream(input: RdbReader, key: ByteString, version: StreamVersion): Generator<ByteString[]> {
  const entriesAt = input.position;
  const nodes = input.size();
  for (let i = 0; i < 2 * nodes; i += 1) input.skipString();
  const length = input.bigSize();
  const lastId = readId(input);
  let added = length;
  let maxDeletedId: Id = ZERO;
  if (version >= 2) {
    readId(input);
    maxDeletedId = readId(input);
    added = input.bigSize();
  }
  // The stream may be empty: creating and destroying a group creates it.
  yield ['XGROUP', 'CREATE', key, '-', '0-0', 'MKSTREAM'];
  yield ['XGROUP', 'DESTROY', key, '-'];
  const groups = input.size();
  for (let i = 0; i < groups; i += 1) yield* readGroup(input, key, version);
  const producers = version >= 4 ? [...readProducers(input, key)] : [];
  const endsAt = input.position;
  input.position = entriesAt;
  if (length !== BigInt(yield* readEntries(input, key))) throw new BadFormat('a stream of another length');
  yield ['XSETID', key, textOf(lastId), 'ENTRIESADDED', String(added), 'MAXDELETEDID', textOf(maxDeletedId)];
  yield* producers;
  input.position = endsAt;
}

/** The settings for remembering messages, and the messages; none if the stream knows no message. */
function* readProducers(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  const settings = ['IDMP-DURATION', String(input.bigSize()), 'IDMP-MAXSIZE', String(input.bigSize())];
  const producers = input.size();
  if (producers > 0) yield ['XCFGSET', key, ...settings];
  for (let i = 0; i < producers; i += 1) {
    const producer = input.string();
    const ids = input.size();
    for (let n = 0; n < ids; n += 1) {
      const id = input.string();
      yield ['XIDMPRECORD', key, producer, id, textOf(readId(input))];
    }
  }
  input.bigSize();
  input.bigSize();
}

/** @returns the number of entries */
function* readEntries(input: RdbReader, key: ByteString): Generator<ByteString[], number> {
  let count = 0;
  const nodes = input.size();
  for (let i = 0; i < nodes; i += 1) {
    for (const words of readNode(input, key)) {
      count += 1;
      yield words;
    }
  }
  return count;
}

function readId(input: RdbReader): Id {
  return [input.bigSize(), input.bigSize()];
}

function idOfRaw(bytes: Buffer): Id {
  return [bytes.readBigUInt64BE(0), bytes.readBigUInt64BE(8)];
}

function* readNode(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  const rawFirst = input.blob();
  if (rawFirst.length !== 16) throw new BadFormat('an id of a stream');
  const first = idOfRaw(rawFirst);
  const words = decodeListpack(input.blob());
  let at = 0;
  const next = (): ByteString => {
    const word = words[at];
    if (word === undefined) throw new BadFormat('a node of a stream that ends too soon');
    at += 1;
    return word;
  };
  const number = (): number => {
    const value = Number(next());
    if (!Number.isSafeInteger(value) || value < 0 || value > words.length) throw new BadFormat('a count in a stream');
    return value;
  };
  const many = (count: number): ByteString[] => Array.from({ length: count }, next);
  const total = number() + number();
  const names = many(number());
  next();
  for (let i = 0; i < total; i += 1) {
    const flags = Number(next());
    const id: Id = [first[0] + integerOf(next()), first[1] + integerOf(next())];
    const isSame = (flags & SAME_FIELDS) !== 0;
    const fields = isSame
      ? many(names.length).flatMap((value, index) => [names[index] as ByteString, value])
      : many(2 * number());
    next();
    if ((flags & DELETED) === 0) yield ['XADD', key, textOf(id), ...fields];
  }
}

function integerOf(word: ByteString): bigint {
  if (!/^-?[0-9]{1,20}$/.test(word)) throw new BadFormat('an id in a stream');
  return BigInt(word);
}

function* readGroup(input: RdbReader, key: ByteString, version: StreamVersion): Generator<ByteString[]> {
  const name = input.string();
  const lastId = readId(input);
  const read = version >= 2 ? input.bigSize() : UNKNOWN_READ;
  yield ['XGROUP', 'CREATE', key, name, textOf(lastId), 'ENTRIESREAD', read === UNKNOWN_READ ? '-1' : String(read)];
  const pending = new Map<ByteString, { deliveredAtMs: number; count: bigint }>();
  const count = input.size();
  for (let i = 0; i < count; i += 1) {
    const id = textOf(idOfRaw(input.raw(16)));
    pending.set(id, { deliveredAtMs: input.instant(), count: input.bigSize() });
    yield ['XADD', key, id, 'x', ''];
  }
  const consumers = input.size();
  for (let i = 0; i < consumers; i += 1) {
    const consumer = input.string();
    input.instant();
    if (version >= 3) input.instant();
    yield ['XGROUP', 'CREATECONSUMER', key, name, consumer];
    const own = input.size();
    for (let n = 0; n < own; n += 1) {
      const id = textOf(idOfRaw(input.raw(16)));
      const known = pending.get(id);
      if (known === undefined) throw new BadFormat('a pending entry that the group does not have');
      const { deliveredAtMs, count: times } = known;
      const how = ['TIME', String(deliveredAtMs), 'RETRYCOUNT', String(times), 'FORCE', 'JUSTID'];
      yield ['XCLAIM', key, name, consumer, '0', id, ...how, 'LASTID', textOf(lastId)];
    }
  }
  if (count === 0) return;
  yield ['XTRIM', key, 'MAXLEN', '=', '0'];
  yield ['XSETID', key, '0-0', 'ENTRIESADDED', '0'];
}
