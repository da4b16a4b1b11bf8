/** Parses ids of stream entries, with Redis's errors. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import { MAX_UNSIGNED_64, parseUnsigned64, type Unsigned64 } from '../../numbers.js';
import { ErrorReply } from '../../reply.js';
import { mapped } from '../../slices.js';
import { idAfter, idBefore, MAX_ID, MIN_ID, packId, type StreamId } from '../../types/stream-id.js';

export const invalidId = new ErrorReply('ERR Invalid stream ID specified as stream command argument');
const invalidStart = new ErrorReply('ERR invalid start ID for the interval');
const invalidEnd = new ErrorReply('ERR invalid end ID for the interval');
/** The size of Redis's buffer for ids. */
const MAX_ID_BYTES = 127;

export interface GivenId {
  readonly ms: Unsigned64;
  /** Undefined: `ms-*`. */
  readonly sequence: Unsigned64 | undefined;
}

/** `ms-seq`, `ms-*` or `ms` alone. @throws invalidId */
export function readGivenId(text: ByteString, missingSequence: Unsigned64 = 0): GivenId {
  if (text.length > MAX_ID_BYTES) throw invalidId;
  const dash = text.indexOf('-');
  const ms = parseUnsigned64(dash === -1 ? text : text.slice(0, dash));
  if (ms === undefined) throw invalidId;
  if (dash === -1) return { ms, sequence: missingSequence };
  const rest = text.slice(dash + 1);
  if (rest === '*') return { ms, sequence: undefined };
  const sequence = parseUnsigned64(rest);
  if (sequence === undefined) throw invalidId;
  return { ms, sequence };
}

/** A complete id; the sequence may be omitted. @throws invalidId */
export function readId(text: ByteString, missingSequence: Unsigned64 = 0): StreamId {
  const { ms, sequence } = readGivenId(text, missingSequence);
  if (sequence === undefined) throw invalidId;
  return packId(ms, sequence);
}

/** The words from index `from` on as ids. @throws invalidId */
export function readIds(args: Args, from: number, to = args.length): Generator<void, StreamId[]> {
  return mapped(args.words.slice(from, to), (word) => readId(word));
}

/** The lowest id of an interval: `-`, `+`, an id, or `(` and an id. */
export function readStart(text: ByteString): StreamId {
  const { id, excludes } = readEnd(text, 0);
  if (!excludes) return id;
  const after = idAfter(id);
  if (after === undefined) throw invalidStart;
  return after;
}

/** The highest id of an interval. */
export function readStop(text: ByteString): StreamId {
  const { id, excludes } = readEnd(text, MAX_UNSIGNED_64);
  if (!excludes) return id;
  const before = idBefore(id);
  if (before === undefined) throw invalidEnd;
  return before;
}

function readEnd(text: ByteString, missingSequence: Unsigned64): { readonly id: StreamId; readonly excludes: boolean } {
  if (text === '-') return { id: MIN_ID, excludes: false };
  if (text === '+') return { id: MAX_ID, excludes: false };
  const excludes = text.length > 1 && text.startsWith('(');
  return { id: readId(excludes ? text.slice(1) : text, missingSequence), excludes };
}
