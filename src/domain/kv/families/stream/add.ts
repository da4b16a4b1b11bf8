/** XADD and XSETID: adding entries, and setting the last id. */
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize, SLICE_WORDS } from '../../limits.js';
import { ERRORS, ErrorReply, OK, wrongArity } from '../../reply.js';
import { hasManyWords } from '../../slices.js';
import { textBytes } from '../../steps.js';
import { Stream } from '../../types/stream.js';
import { formatId, idAfter, MAX_ID, MIN_ID, nextInMillisecond, packId, type StreamId } from '../../types/stream-id.js';
import { type GivenId, readGivenId, readId } from './ids.js';
import {
  findMessage,
  type GivenMessage,
  messageOf,
  onlyGeneratedIds,
  readMessage,
  recordMessage,
} from './producers.js';
import { checkTrim, isLongTrim, newTrim, readTrimOption, type Trim, trimming } from './trim.js';

const notAboveZero = new ErrorReply('ERR The ID specified in XADD must be greater than 0-0');
const notAboveLast = new ErrorReply('ERR The ID specified in XADD is equal or smaller than the target stream top item');
const exhausted = new ErrorReply('ERR The stream has exhausted the last possible ID, unable to add more items');
const negativeAdded = new ErrorReply('ERR entries_added must be positive');
const belowGivenDeleted = new ErrorReply(
  'ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id',
);
const belowDeleted = new ErrorReply('ERR The ID specified in XSETID is smaller than current max_deleted_entry_id');
const belowTop = new ErrorReply('ERR The ID specified in XSETID is smaller than the target stream top item');
const belowLength = new ErrorReply(
  'ERR The entries_added specified in XSETID is smaller than the target stream length',
);

interface Addition {
  readonly makesStream: boolean;
  readonly trim: Trim;
  /** Undefined: `*`. */
  readonly id: GivenId | undefined;
  readonly fieldsAt: number;
  readonly message: GivenMessage | undefined;
}

/**
 * XADD key [NOMKSTREAM] [KEEPREF|DELREF|ACKED] [IDMPAUTO producer|IDMP producer id] [MAXLEN|MINID [=|~] threshold
 * [LIMIT n]] *|id name value … → the id, of the first entry for a repeated message; null with NOMKSTREAM when the stream
 * is missing.
 */
export const add: SlicedHandler = function* (context) {
  const { args, keyspace, effects } = context;
  const { makesStream, trim, id: given, fieldsAt, message: named } = readAddition(context);
  const key = args.bytes(1);
  const known = keyspace.fetchKind(key, Stream);
  if (known === undefined && !makesStream) return null;
  const stream = known ?? new Stream();
  const message = named === undefined ? undefined : yield* messageOf(context, named, fieldsAt);
  const repeated = message === undefined ? undefined : findMessage(context, stream, message);
  if (repeated !== undefined) return formatId(repeated);
  if (stream.lastId === MAX_ID) throw exhausted;
  const id = newId(stream, given, context.nowMs);
  const words = args.from(fieldsAt);
  requireRecordSize(context, stream.payloadBytes + (yield* textBytes(words)));
  const before = stream.bytes;
  if (words.length > SLICE_WORDS) yield* stream.appendInSlices(id, words, context.settings);
  else stream.append(id, words, context.settings);
  const idText = formatId(id);
  yield* effects.pushLong('XADD', [key, idText].concat(words));
  if (message !== undefined) recordMessage(context, key, stream, message);
  const trimmed = trim.kind === undefined ? 0 : yield* trimming(context, key, stream, trim);
  if (known === undefined) keyspace.set(key, stream);
  else keyspace.changed(key, stream, before);
  context.notify('t', 'xadd', key);
  if (trimmed > 0) context.notify('t', 'xtrim', key);
  return idText;
};

/** Whether the command has so many words or trims so much that it needs slices. */
export function isLongAdd(context: CommandContext): boolean {
  if (hasManyWords(context)) return true;
  const stream = context.keyspace.peek(context.args.bytes(1));
  return stream instanceof Stream && isLongTrim(stream, readAddition(context).trim);
}

function readAddition({ args }: CommandContext): Addition {
  const trim = newTrim();
  const state = { hasReferences: false };
  let makesStream = true;
  let at = 2;
  let id: GivenId | undefined;
  let message: GivenMessage | undefined;
  for (; at < args.length; at += 1) {
    const word = args.bytes(at);
    if (word === '*') break;
    if (word.length === 10 && word.toUpperCase() === 'NOMKSTREAM') {
      makesStream = false;
      continue;
    }
    const found = readMessage(args, at, message);
    if (found !== undefined) {
      message = found.message;
      at = found.last;
      continue;
    }
    const last = readTrimOption(args, at, trim, state);
    if (last === undefined) {
      id = readGivenId(word);
      break;
    }
    at = last;
  }
  checkTrim(trim);
  const fieldsAt = at + 1;
  const count = args.length - fieldsAt;
  if (count < 2 || count % 2 === 1) throw wrongArity('xadd');
  if (id !== undefined && id.ms === 0 && id.sequence === 0) throw notAboveZero;
  if (message !== undefined && id !== undefined) throw onlyGeneratedIds;
  return { makesStream, trim, id, fieldsAt, message };
}

function newId({ lastId }: Stream, given: GivenId | undefined, nowMs: number): StreamId {
  if (given === undefined) {
    const now = packId(nowMs, 0);
    return now.slice(0, 8) > lastId.slice(0, 8) ? now : (idAfter(lastId) as StreamId);
  }
  let id: StreamId | undefined;
  if (given.sequence !== undefined) {
    id = packId(given.ms, given.sequence);
  } else {
    id = packId(given.ms, 0);
    if (id.slice(0, 8) === lastId.slice(0, 8)) id = nextInMillisecond(lastId);
  }
  if (id === undefined || id <= lastId) throw notAboveLast;
  return id;
}

/** XSETID key last-id [ENTRIESADDED n] [MAXDELETEDID id] → OK. */
export const setId: Handler = ({ args, keyspace, effects, notify, isReplay }) => {
  const id = readId(args.bytes(2));
  let added: number | undefined;
  let deleted: StreamId | undefined;
  for (let i = 3; i < args.length; i += 2) {
    const option = args.option(i);
    if (option === 'ENTRIESADDED' && i + 1 < args.length) {
      added = args.integer(i + 1);
      if (added < 0) throw negativeAdded;
    } else if (option === 'MAXDELETEDID' && i + 1 < args.length) {
      deleted = readId(args.bytes(i + 1));
      if (id < deleted) throw belowGivenDeleted;
    } else throw ERRORS.syntax;
  }
  const key = args.bytes(1);
  const stream = keyspace.fetchKind(key, Stream);
  if (stream === undefined) throw ERRORS.noSuchKey;
  if (!isReplay && id < stream.maxDeletedId) throw belowDeleted;
  if (stream.size > 0) {
    if (id < stream.lastEntryId) throw belowTop;
    if (added !== undefined && added < stream.size) throw belowLength;
  }
  stream.lastId = id;
  if (added !== undefined) stream.entriesAdded = added;
  // As in Redis, 0-0 from a client counts as absent; in an effect it is a value.
  if (deleted !== undefined && (deleted !== MIN_ID || isReplay)) stream.maxDeletedId = deleted;
  keyspace.changed(key, stream, stream.bytes);
  const words = ['XSETID', key, formatId(id)];
  if (added !== undefined) words.push('ENTRIESADDED', String(added));
  if (deleted !== undefined && deleted !== MIN_ID) words.push('MAXDELETEDID', formatId(deleted));
  effects.push(...words);
  notify('t', 'xsetid', key);
  return OK;
};
