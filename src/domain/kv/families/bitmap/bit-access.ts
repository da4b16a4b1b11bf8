/** Strings as bit arrays: offsets, reading parts, changing bytes. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { MAX_STRING_BYTES, requireRecordSize } from '../../limits.js';
import { parseInt64 } from '../../numbers.js';
import { ErrorReply } from '../../reply.js';
import { type BitString, byteOf } from '../../types/bit-string.js';

/** Bytes processed in one slice: well under a millisecond. */
export const BITMAP_SLICE_BYTES = 256 * 1024;

export const badOffset = new ErrorReply('ERR bit offset is not an integer or out of range');

/** Parses a bit offset, up to the last bit of Redis's longest string. `#n`: in units of `width` bits. */
export function bitOffset(word: ByteString, width = 0): number {
  const isScaled = width > 0 && word.startsWith('#');
  const value = parseInt64(isScaled ? word.slice(1) : word);
  if (typeof value !== 'number') throw badOffset;
  const offset = isScaled ? value * width : value;
  if (offset < 0 || Math.floor(offset / 8) >= MAX_STRING_BYTES) throw badOffset;
  return offset;
}

export function piece(bits: ByteString | BitString, start: number, count: number): Buffer {
  const end = Math.min(bits.length, start + count);
  return typeof bits === 'string' ? Buffer.from(bits.slice(start, end), 'latin1') : bits.buffer.subarray(start, end);
}

/** Edits a string's bytes; changes take effect on `save`. */
export interface BitEditor {
  byteAt(index: number): number;
  setByte(index: number, byte: number): void;
  save(): void;
}

/**
 * Prepares writing bytes up to index `last` of the string; the string is extended with zeros. @throws WRONGTYPE, too
 * large
 */
export function editBits(context: CommandContext, key: ByteString, last: number): BitEditor {
  const { keyspace } = context;
  const bits = keyspace.fetchBits(key);
  if (bits !== undefined) {
    requireRecordSize(context, Math.max(bits.length, last + 1));
    const before = bits.length;
    bits.extend(last + 1);
    return {
      byteAt: (index) => bits.byteAt(index),
      setByte: (index, byte) => bits.setByte(index, byte),
      save: () => keyspace.edited(key, bits, before),
    };
  }
  const old = keyspace.fetchString(key) ?? '';
  requireRecordSize(context, Math.max(old.length, last + 1));
  const buffer = Buffer.alloc(Math.max(old.length, last + 1));
  buffer.write(old, 'latin1');
  return {
    byteAt: (index) => buffer[index] ?? 0,
    setByte: (index, byte) => {
      buffer[index] = byte;
    },
    save: () => keyspace.replaceEdited(key, buffer.toString('latin1')),
  };
}

export function bitAt(bits: ByteString | BitString, offset: number): 0 | 1 {
  return ((byteOf(bits, Math.floor(offset / 8)) >> (7 - (offset % 8))) & 1) as 0 | 1;
}
