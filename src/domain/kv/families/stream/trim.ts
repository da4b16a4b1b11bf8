/** Trimming by MAXLEN and MINID, exactly or by whole blocks, considering the groups' references. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { Stream } from '../../types/stream.js';
import { MIN_ID, type StreamId } from '../../types/stream-id.js';
import { ENTRIES_A_SLICE, LONG_STREAM_ENTRIES } from '../../types/stream-limits.js';
import { readId } from './ids.js';
import { dropReferences, pushTrimmed, type References, readReferences } from './references.js';

const negativeMaxLength = new ErrorReply('ERR The MAXLEN argument must be >= 0.');
const negativeLimit = new ErrorReply('ERR The LIMIT argument must be >= 0.');
const bothKinds = new ErrorReply('ERR syntax error, MAXLEN and MINID options at the same time are not compatible');
const limitWithoutTilde = new ErrorReply('ERR syntax error, LIMIT cannot be used without the special ~ option');
const limitWithoutKind = new ErrorReply(
  'ERR syntax error, LIMIT cannot be used without specifying a trimming strategy',
);

/** As in Redis, approximate trimming without LIMIT removes at most this many blocks. */
const BLOCKS_AT_ONCE = 100;
const MAX_DEFAULT_LIMIT = 1_000_000;
const FALLBACK_LIMIT = 10_000;

export interface Trim {
  kind: 'MAXLEN' | 'MINID' | undefined;
  isApproximate: boolean;
  maxLength: number;
  minId: StreamId;
  /** The most entries to remove; undefined: not given; 0: no limit. */
  limit: number | undefined;
  references: References;
}

export function newTrim(): Trim {
  return {
    kind: undefined,
    isApproximate: false,
    maxLength: 0,
    minId: MIN_ID,
    limit: undefined,
    references: 'KEEPREF',
  };
}

/**
 * Parses one option of XADD or XTRIM at `at`. @returns the index of its last word, or undefined if it is not a trimming
 * option
 */
export function readTrimOption(
  args: Args,
  at: number,
  trim: Trim,
  state: { hasReferences: boolean },
): number | undefined {
  const option = args.option(at);
  const hasNext = at + 1 < args.length;
  if ((option === 'MAXLEN' || option === 'MINID') && hasNext) {
    if (trim.kind !== undefined && trim.kind !== option) throw bothKinds;
    let value = at + 1;
    trim.isApproximate = false;
    const sign = args.bytes(value);
    if (args.length > value + 1 && (sign === '~' || sign === '=')) {
      trim.isApproximate = sign === '~';
      value += 1;
    }
    if (option === 'MAXLEN') {
      trim.maxLength = args.offset(value);
      if (trim.maxLength < 0) throw negativeMaxLength;
    } else {
      trim.minId = readId(args.bytes(value));
    }
    trim.kind = option;
    return value;
  }
  if (option === 'LIMIT' && hasNext) {
    trim.limit = args.offset(at + 1);
    if (trim.limit < 0) throw negativeLimit;
    return at + 1;
  }
  const references = readReferences(option);
  if (references === undefined) return undefined;
  if (state.hasReferences) throw ERRORS.syntax;
  state.hasReferences = true;
  trim.references = references;
  return at;
}

/** To be called after all options were parsed. @throws ErrorReply */
export function checkTrim(trim: Trim): void {
  if (trim.limit === undefined || trim.isApproximate) return;
  throw trim.kind === undefined ? limitWithoutKind : limitWithoutTilde;
}

/** Whether trimming is so much work that it needs slices. */
export function isLongTrim(stream: Stream, trim: Trim): boolean {
  if (trim.kind === undefined || stream.size <= LONG_STREAM_ENTRIES) return false;
  return trim.kind === 'MINID' ? stream.firstId < trim.minId : stream.size - trim.maxLength > LONG_STREAM_ENTRIES;
}

/** Trims the stream and records it. @returns the number of removed entries */
export function* trimming(
  context: CommandContext,
  key: ByteString,
  stream: Stream,
  trim: Trim,
): Generator<void, number> {
  if (trim.kind === undefined) return 0;
  return trim.references === 'KEEPREF'
    ? yield* trimFront(context, key, stream, trim)
    : yield* trimByReference(context, key, stream, trim);
}

function* trimFront(context: CommandContext, key: ByteString, stream: Stream, trim: Trim): Generator<void, number> {
  const byBlocks = isByBlocks(context, trim);
  const limit = limitOf(context, trim);
  let removed = 0;
  let slice = 0;
  while (stream.size > 0 && !isEnough(stream, trim)) {
    const { size, lastId } = stream.firstBlock;
    if (byBlocks && removed + size > limit) break;
    const isWhole = trim.kind === 'MAXLEN' ? stream.size - size >= trim.maxLength : lastId < trim.minId;
    if (isWhole && removed + size <= limit) {
      removed += stream.shiftBlock();
    } else {
      if (byBlocks || removed >= limit) break;
      stream.remove(stream.firstId);
      removed += 1;
    }
    if (removed - slice < ENTRIES_A_SLICE) continue;
    slice = removed;
    yield;
  }
  if (removed > 0) context.effects.push('XTRIM', key, 'MAXLEN', '=', String(stream.size));
  return removed;
}

/** With DELREF or ACKED every entry is checked, and referenced entries may stay. */
function* trimByReference(
  context: CommandContext,
  key: ByteString,
  stream: Stream,
  trim: Trim,
): Generator<void, number> {
  const candidates = trimCandidates(context, stream, trim);
  const dropped: StreamId[] = [];
  for (const [index, id] of candidates.entries()) {
    stream.remove(id);
    dropped.push(id);
    if (index % ENTRIES_A_SLICE === ENTRIES_A_SLICE - 1) yield;
  }
  if (dropped.length === 0) return 0;
  yield* pushTrimmed(context, key, stream, dropped);
  if (trim.references === 'DELREF') yield* dropReferences(context, key, stream, dropped);
  return dropped.length;
}

/** The ids to remove, ascending. Over RESP, LIMIT counts whole blocks: a block that would exceed it stays. */
function trimCandidates(context: CommandContext, stream: Stream, trim: Trim): StreamId[] {
  const byBlocks = isByBlocks(context, trim);
  const limit = limitOf(context, trim);
  const surplus = trim.kind === 'MAXLEN' ? stream.size - trim.maxLength : stream.size;
  const candidates: StreamId[] = [];
  for (const ids of stream.blocks()) {
    if (byBlocks && candidates.length + ids.length > limit) break;
    for (const id of ids) {
      if (candidates.length >= surplus || (trim.kind === 'MINID' && id >= trim.minId)) return candidates;
      if (trim.references === 'ACKED' && stream.isReferenced(id)) continue;
      if (candidates.length >= limit) return candidates;
      candidates.push(id);
    }
  }
  return candidates;
}

/** Over REST `~` is almost exact, as in the documented service. */
function isByBlocks({ endpoint }: CommandContext, { isApproximate }: Trim): boolean {
  return isApproximate && endpoint === 'resp';
}

function isEnough(stream: Stream, trim: Trim): boolean {
  return trim.kind === 'MAXLEN' ? stream.size <= trim.maxLength : stream.firstId >= trim.minId;
}

function limitOf({ endpoint, settings }: CommandContext, { isApproximate, limit }: Trim): number {
  if (limit !== undefined) return limit === 0 ? Number.POSITIVE_INFINITY : limit;
  if (!isApproximate || endpoint === 'rest') return Number.POSITIVE_INFINITY;
  const blocks = BLOCKS_AT_ONCE * settings.number('stream-node-max-entries');
  return blocks <= 0 ? FALLBACK_LIMIT : Math.min(blocks, MAX_DEFAULT_LIMIT);
}

/** XTRIM key MAXLEN|MINID [=|~] threshold [LIMIT n] [KEEPREF|DELREF|ACKED] → the number of removed entries. */
export const trim: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const wanted = readTrim(args);
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  if (stream === undefined) return 0;
  const before = stream.bytes;
  const removed = yield* trimming(context, key, stream, wanted);
  if (removed === 0) return 0;
  keyspace.changed(key, stream, before);
  context.notify('t', 'xtrim', key);
  return removed;
};

function readTrim(args: Args): Trim {
  const wanted = newTrim();
  const state = { hasReferences: false };
  for (let i = 2; i < args.length; i += 1) {
    const last = readTrimOption(args, i, wanted, state);
    if (last === undefined) throw ERRORS.syntax;
    i = last;
  }
  checkTrim(wanted);
  if (wanted.kind === undefined) throw ERRORS.syntax;
  return wanted;
}
