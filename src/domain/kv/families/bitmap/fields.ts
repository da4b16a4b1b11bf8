/** BITFIELD: integers of any width at any bit offset. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { MAX_STRING_BYTES } from '../../limits.js';
import { INT64_MAX, narrow } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { mapped, SlicePace } from '../../slices.js';
import { byteOf } from '../../types/bit-string.js';
import { recordExpiry } from '../expire-time.js';
import { type BitEditor, badOffset, bitOffset, editBits } from './bit-access.js';

const badType = new ErrorReply(
  'ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.',
);
const badOverflow = new ErrorReply('ERR Invalid OVERFLOW type specified');
const readOnly = new ErrorReply('ERR BITFIELD_RO only supports the GET subcommand');
const MAX_SIGNED_BITS = 64;
const MAX_UNSIGNED_BITS = 63;

type Overflow = 'WRAP' | 'SAT' | 'FAIL';

interface FieldType {
  readonly isSigned: boolean;
  readonly bits: number;
}

interface FieldOperation {
  readonly kind: 'GET' | 'SET' | 'INCRBY';
  readonly type: FieldType;
  readonly offset: number;
  /** The number to set or add. */
  readonly operand: bigint;
  readonly overflow: Overflow;
}

/**
 * BITFIELD key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] SET type offset n | INCRBY type offset n] … → a result
 * for each: GET the value, SET the previous value, INCRBY the sum; null where FAIL prevented the change. WRONGTYPE.
 */
export const bitField: SlicedHandler = (context) => run(context, false);

/** BITFIELD_RO key GET type offset … → a value for each. WRONGTYPE. */
export const readBitField: SlicedHandler = (context) => run(context, true);

function* run(context: CommandContext, isReadOnly: boolean): Generator<void, Reply> {
  const { args, keyspace, effects } = context;
  const operations = yield* readOperations(context);
  const writes = operations.filter(({ kind }) => kind !== 'GET');
  if (isReadOnly && writes.length > 0) throw readOnly;
  const key = args.bytes(1);
  const present = keyspace.peekBits(key);
  if (writes.length === 0) {
    const byteAt = present === undefined ? () => 0 : (index: number) => byteOf(present, index);
    return yield* mapped(operations, (operation) => narrow(readField(byteAt, operation)));
  }
  const last = writes.reduce((most, { offset, type }) => Math.max(most, Math.floor((offset + type.bits - 1) / 8)), 0);
  const editor = editBits(context, key, last);
  const replies = yield* mapped(operations, (operation) => perform(editor, operation));
  // The string may have grown even if all writes failed, which is a change too.
  editor.save();
  yield* effects.pushLong('BITFIELD', args.words, 1);
  recordExpiry(context, key);
  context.notify('$', 'setbit', key);
  return replies;
}

function* readOperations({ args }: CommandContext): Generator<void, FieldOperation[]> {
  const operations: FieldOperation[] = [];
  const pace = new SlicePace();
  let overflow: Overflow = 'WRAP';
  for (let i = 2; i < args.length; ) {
    const kind = args.option(i);
    if (kind === 'OVERFLOW' && i + 1 < args.length) {
      const word = args.option(i + 1);
      if (word !== 'WRAP' && word !== 'SAT' && word !== 'FAIL') throw badOverflow;
      overflow = word;
      i += 2;
      continue;
    }
    const words = kind === 'GET' ? 3 : kind === 'SET' || kind === 'INCRBY' ? 4 : 0;
    if (words === 0 || i + words > args.length) throw ERRORS.syntax;
    const type = readType(args.bytes(i + 1));
    const offset = bitOffset(args.bytes(i + 2), type.bits);
    if (kind !== 'GET' && Math.floor((offset + type.bits - 1) / 8) >= MAX_STRING_BYTES) throw badOffset;
    const operand = kind === 'GET' ? 0n : args.int64(i + 3);
    operations.push({ kind: kind as FieldOperation['kind'], type, offset, operand, overflow });
    i += words;
    if (pace.isDue()) yield;
  }
  return operations;
}

function readType(word: ByteString): FieldType {
  const parts = /^([iu])([1-9][0-9]?)$/.exec(word);
  if (parts === null) throw badType;
  const isSigned = parts[1] === 'i';
  const bits = Number(parts[2]);
  if (bits > (isSigned ? MAX_SIGNED_BITS : MAX_UNSIGNED_BITS)) throw badType;
  return { isSigned, bits };
}

function readField(byteAt: (index: number) => number, { type, offset }: FieldOperation): bigint {
  const first = Math.floor(offset / 8);
  const last = Math.floor((offset + type.bits - 1) / 8);
  let value = 0n;
  for (let i = first; i <= last; i += 1) value = (value << 8n) | BigInt(byteAt(i));
  value >>= BigInt((last + 1) * 8 - offset - type.bits);
  return type.isSigned ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
}

function writeField(editor: BitEditor, { type, offset }: FieldOperation, value: bigint): void {
  const first = Math.floor(offset / 8);
  const last = Math.floor((offset + type.bits - 1) / 8);
  const shift = BigInt((last + 1) * 8 - offset - type.bits);
  const mask = ((1n << BigInt(type.bits)) - 1n) << shift;
  let bytes = 0n;
  for (let i = first; i <= last; i += 1) bytes = (bytes << 8n) | BigInt(editor.byteAt(i));
  bytes = (bytes & ~mask) | (BigInt.asUintN(type.bits, value) << shift);
  for (let i = last; i >= first; i -= 1) {
    editor.setByte(i, Number(bytes & 0xffn));
    bytes >>= 8n;
  }
}

function perform(editor: BitEditor, operation: FieldOperation): Reply {
  const old = readField((index) => editor.byteAt(index), operation);
  if (operation.kind === 'GET') return narrow(old);
  const isSum = operation.kind === 'INCRBY';
  const fitted = fitInto(isSum ? old + operation.operand : operation.operand, operation);
  if (fitted === undefined) return null;
  writeField(editor, operation, fitted);
  return narrow(isSum ? fitted : old);
}

/**
 * Redis computes the distance to the maximum in 64 bits: a value too far below it saturates at the maximum, not the
 * minimum.
 */
function wrapsAround(distance: bigint): boolean {
  return distance > INT64_MAX;
}

/** The number as the field stores it; undefined if it does not fit and the field must not change. */
function fitInto(value: bigint, { type, overflow, kind, operand }: FieldOperation): bigint | undefined {
  // C converts a negative number for an unsigned field to a large one modulo 2^64.
  const wanted = kind === 'SET' && !type.isSigned ? BigInt.asUintN(64, operand) : value;
  const size = 1n << BigInt(type.bits);
  const max = type.isSigned ? size / 2n - 1n : size - 1n;
  const min = type.isSigned ? -size / 2n : 0n;
  if (wanted >= min && wanted <= max) return wanted;
  if (overflow === 'FAIL') return undefined;
  if (overflow === 'SAT') return wanted > max || (kind === 'SET' && wrapsAround(max - wanted)) ? max : min;
  return type.isSigned ? BigInt.asIntN(type.bits, wanted) : BigInt.asUintN(type.bits, wanted);
}
