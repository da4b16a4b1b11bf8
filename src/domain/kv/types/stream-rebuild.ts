/**
 * The commands that rebuild a stream, and the words that represent its contents in a digest.
 *
 * Deleted entries may still be pending, but XCLAIM only accepts existing entries. So these are first added, claimed and
 * trimmed; the stream, now empty, then starts from the lowest id again.
 */
import type { ByteString } from '../../../kernel/index.js';
import { mergeSorted, SlicePace } from '../slices.js';
import { inOneStep } from '../steps.js';
import type { ConsumerGroup, PendingEntry } from './stream-group.js';
import { formatId, type StreamId } from './stream-id.js';
import { IDS_A_COMMAND } from './stream-limits.js';
import type { StreamProducers } from './stream-producers.js';

export interface StreamEntry {
  readonly names: readonly ByteString[];
  readonly values: readonly ByteString[];
}

/** The contents of a stream that its rebuilding commands need. */
export interface StreamContents {
  readonly size: number;
  readonly lastId: StreamId;
  readonly maxDeletedId: StreamId;
  readonly entriesAdded: number;
  readonly producers: StreamProducers | undefined;
  has(id: StreamId): boolean;
  entries(): IterableIterator<[StreamId, StreamEntry]>;
  groups(): ConsumerGroup[];
}

/** The fields of an entry of which only the id matters. */
const FILLER = ['x', ''] as const;
/** Creates a stream in one command; the entry is trimmed afterwards. */
const LOWEST_ADDED = '0-1';

/** Finds the pending ids without an entry in slices, then gives the commands. */
export function* rebuildStreamInSlices(
  key: ByteString,
  stream: StreamContents,
): Generator<void, Iterable<ByteString[]>> {
  return commandsOf(key, stream, yield* lostIds(stream));
}

export function rebuildStream(key: ByteString, stream: StreamContents): Iterable<ByteString[]> {
  return inOneStep(rebuildStreamInSlices(key, stream));
}

function* commandsOf(
  key: ByteString,
  stream: StreamContents,
  lost: readonly StreamId[],
): IterableIterator<ByteString[]> {
  const groups = stream.groups();
  if (stream.size === 0 && lost.length === 0) yield ['XADD', key, LOWEST_ADDED, ...FILLER];
  for (const id of lost) yield ['XADD', key, formatId(id), ...FILLER];
  if (lost.length > 0) {
    yield* groupCommands(key, groups);
    for (const group of groups) yield* pendingCommands(key, group, (id) => !stream.has(id));
  }
  if (stream.size === 0 || lost.length > 0) {
    yield ['XTRIM', key, 'MAXLEN', '=', '0'];
    yield ['XSETID', key, '0-0', 'ENTRIESADDED', '0'];
  }
  for (const [id, entry] of stream.entries()) yield addCommand(key, id, entry);
  yield setIdCommand(key, stream);
  if (stream.producers !== undefined) yield* stream.producers.rebuild(key);
  if (lost.length === 0) yield* groupCommands(key, groups);
  for (const group of groups) {
    yield* pendingCommands(key, group, (id) => stream.has(id));
    yield groupPositionCommand(key, group);
  }
}

export function* factsOfStream(stream: StreamContents): IterableIterator<ByteString> {
  yield formatId(stream.lastId);
  yield formatId(stream.maxDeletedId);
  yield String(stream.entriesAdded);
  for (const [id, { names, values }] of stream.entries()) {
    yield formatId(id);
    yield String(names.length);
    yield* names;
    yield* values;
  }
  if (stream.producers !== undefined) yield* stream.producers.contents();
  for (const group of stream.groups()) {
    yield group.name;
    yield formatId(group.lastId);
    yield String(group.entriesRead);
    for (const { name } of group.consumers()) yield name;
    for (const [id, { consumer, deliveredAtMs, deliveries }] of group.pending.entries()) {
      yield `${formatId(id)} ${deliveredAtMs} ${deliveries}`;
      yield consumer.name;
    }
  }
}

function addCommand(key: ByteString, id: StreamId, { names, values }: StreamEntry): ByteString[] {
  const words = ['XADD', key, formatId(id)];
  for (let i = 0; i < names.length; i += 1) words.push(names[i] as ByteString, values[i] as ByteString);
  return words;
}

export function setIdCommand(key: ByteString, { lastId, entriesAdded, maxDeletedId }: StreamContents): ByteString[] {
  const added = String(entriesAdded);
  return ['XSETID', key, formatId(lastId), 'ENTRIESADDED', added, 'MAXDELETEDID', formatId(maxDeletedId)];
}

export function groupPositionCommand(key: ByteString, { name, lastId, entriesRead }: ConsumerGroup): ByteString[] {
  return ['XGROUP', 'SETID', key, name, formatId(lastId), 'ENTRIESREAD', String(entriesRead)];
}

/** Makes the ids, all with the same time and count, pending for the consumer; at most IDS_A_COMMAND. */
function claimCommand(
  key: ByteString,
  group: ConsumerGroup,
  { consumer, deliveredAtMs, deliveries }: PendingEntry,
  ids: readonly ByteString[],
): ByteString[] {
  if (consumer === group.released) return releaseCommand(key, group, ids, deliveries);
  const words = ['XCLAIM', key, group.name, consumer.name, '0', ...ids, 'TIME', String(deliveredAtMs)];
  words.push('RETRYCOUNT', String(deliveries), 'FORCE', 'JUSTID', 'LASTID', formatId(group.lastId));
  return words;
}

/** Releases the ids, all with the same count, from their consumers; at most IDS_A_COMMAND. */
function releaseCommand(
  key: ByteString,
  { name }: ConsumerGroup,
  ids: readonly ByteString[],
  deliveries: number,
): ByteString[] {
  const words = ['XNACK', key, name, 'FAIL', 'IDS', String(ids.length), ...ids];
  return [...words, 'RETRYCOUNT', String(deliveries), 'FORCE'];
}

/** Groups pending ids that one command can claim: same consumer, time and count. */
export class ClaimRuns {
  #pending: PendingEntry | undefined;
  #ids: ByteString[] = [];

  constructor(
    private readonly key: ByteString,
    private readonly group: ConsumerGroup,
  ) {}

  /** @returns the command of the previous run, if this entry ends it */
  add(id: StreamId, { consumer, deliveredAtMs, deliveries }: PendingEntry): ByteString[] | undefined {
    const last = this.#pending;
    const fits =
      last !== undefined &&
      last.consumer === consumer &&
      last.deliveredAtMs === deliveredAtMs &&
      last.deliveries === deliveries &&
      this.#ids.length < IDS_A_COMMAND;
    const ended = fits ? undefined : this.end();
    this.#pending = { consumer, deliveredAtMs, deliveries };
    this.#ids.push(formatId(id));
    return ended;
  }

  /** @returns the command of the last run, if there is one */
  end(): ByteString[] | undefined {
    if (this.#pending === undefined) return undefined;
    const words = claimCommand(this.key, this.group, this.#pending, this.#ids);
    this.#pending = undefined;
    this.#ids = [];
    return words;
  }
}

function* groupCommands(key: ByteString, groups: readonly ConsumerGroup[]): IterableIterator<ByteString[]> {
  for (const group of groups) {
    const { name, lastId, entriesRead } = group;
    yield ['XGROUP', 'CREATE', key, name, formatId(lastId), 'ENTRIESREAD', String(entriesRead)];
    for (const consumer of group.consumers()) yield ['XGROUP', 'CREATECONSUMER', key, name, consumer.name];
  }
}

function* pendingCommands(
  key: ByteString,
  group: ConsumerGroup,
  isWanted: (id: StreamId) => boolean,
): IterableIterator<ByteString[]> {
  const runs = new ClaimRuns(key, group);
  for (const [id, pending] of group.pending.entries()) {
    if (!isWanted(id)) continue;
    const ended = runs.add(id, pending);
    if (ended !== undefined) yield ended;
  }
  const last = runs.end();
  if (last !== undefined) yield last;
}

/** Ids that are pending without an entry, ascending. */
function* lostIds(stream: StreamContents): Generator<void, StreamId[]> {
  const lost = new Set<StreamId>();
  const pace = new SlicePace();
  for (const group of stream.groups()) {
    for (const [id] of group.pending.entries()) {
      if (!stream.has(id)) lost.add(id);
      if (pace.isDue()) yield;
    }
  }
  return yield* mergeSorted([...lost], (a, b) => (a < b ? -1 : 1));
}
