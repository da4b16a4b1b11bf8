/** BITOP: bitwise operations on strings. */
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { removeKey, storeString } from '../expire-time.js';
import { BITMAP_SLICE_BYTES, piece } from './bit-access.js';

type Operation = 'AND' | 'OR' | 'XOR' | 'NOT' | 'DIFF' | 'DIFF1' | 'ANDOR' | 'ONE';
const OPERATIONS: readonly string[] = ['AND', 'OR', 'XOR', 'NOT', 'DIFF', 'DIFF1', 'ANDOR', 'ONE'];
/** Operations that need a first source and at least one other. */
const OF_TWO: readonly string[] = ['DIFF', 'DIFF1', 'ANDOR'];

const notOfOne = new ErrorReply('ERR BITOP NOT must be called with a single source key.');

export function isLongOperation({ args, keyspace }: CommandContext): boolean {
  let bytes = 0;
  for (let i = 3; i < args.length; i += 1) {
    const value = keyspace.peek(args.bytes(i));
    if (typeof value === 'string') bytes += value.length;
  }
  return bytes > BITMAP_SLICE_BYTES;
}

/**
 * BITOP operation destination key … → the length of the result; a result of length 0 deletes the destination.
 * WRONGTYPE.
 */
export const combine: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const name = args.option(1);
  if (!OPERATIONS.includes(name)) throw ERRORS.syntax;
  const target = args.bytes(2);
  const keys = args.from(3);
  if (name === 'NOT' && keys.length !== 1) throw notOfOne;
  if (OF_TWO.includes(name) && keys.length < 2) {
    throw new ErrorReply(`ERR BITOP ${name} must be called with at least two source keys.`);
  }
  const sources = keys.map((key) => keyspace.peekString(key) ?? '');
  const length = sources.reduce((most, text) => Math.max(most, text.length), 0);
  requireRecordSize(context, length);
  const result = Buffer.alloc(length);
  const slice = Math.max(1024, Math.floor(BITMAP_SLICE_BYTES / keys.length));
  for (let at = 0; at < length; at += slice) {
    const pieces = sources.map((text) => piece(text, at, slice));
    combinePieces(name as Operation, pieces, result.subarray(at, Math.min(length, at + slice)));
    yield;
  }
  if (length === 0) {
    keyspace.fetch(target);
    removeKey(context, target);
    return 0;
  }
  storeString(context, target, result.toString('latin1'));
  return length;
};

function combinePieces(operation: Operation, pieces: readonly Buffer[], into: Buffer): void {
  if (operation === 'ONE') {
    exactlyOne(pieces, into);
  } else if (operation === 'NOT') {
    fold(pieces, into, (a) => a);
    for (let i = 0; i < into.length; i += 1) into[i] = ~(into[i] as number);
  } else if (operation === 'DIFF' || operation === 'DIFF1' || operation === 'ANDOR') {
    // These combine the first source with the OR of the others.
    const first = pieces[0] as Buffer;
    fold(pieces.slice(1), into, JOIN.OR);
    const join = JOIN[operation];
    for (let i = 0; i < into.length; i += 1) into[i] = join(first[i] ?? 0, into[i] as number);
  } else {
    fold(pieces, into, JOIN[operation]);
  }
}

const JOIN = {
  AND: (a: number, b: number) => a & b,
  OR: (a: number, b: number) => a | b,
  XOR: (a: number, b: number) => a ^ b,
  DIFF: (first: number, others: number) => first & ~others,
  DIFF1: (first: number, others: number) => ~first & others,
  ANDOR: (first: number, others: number) => first & others,
} as const;

/** Shorter sources are padded with zeros. */
function fold(pieces: readonly Buffer[], into: Buffer, join: (a: number, b: number) => number): void {
  for (let i = 0; i < into.length; i += 1) {
    let byte = (pieces[0] as Buffer)[i] ?? 0;
    for (let j = 1; j < pieces.length; j += 1) byte = join(byte, (pieces[j] as Buffer)[i] ?? 0);
    into[i] = byte;
  }
}

/** Bits that are set in exactly one source. */
function exactlyOne(pieces: readonly Buffer[], into: Buffer): void {
  for (let i = 0; i < into.length; i += 1) {
    let once = 0;
    let more = 0;
    for (const bytes of pieces) {
      const byte = bytes[i] ?? 0;
      more |= once & byte;
      once |= byte;
    }
    into[i] = once & ~more;
  }
}
