/**
 * Redis's dump payload of a string: a type byte, the value in the form of an RDB file, the version of
 * that form (two bytes) and a CRC-64 of all before it, both little-endian.
 */
import { type ByteString, bufferOfBytes, bytesOfBuffer } from '../../../kernel/index.js';
import { parseInt64 } from '../numbers.js';
import { crc64 } from './crc64.js';
import { decompressLzf } from './lzf.js';

/** Written: Redis 7.0's, so that every server from there on reads it. */
const WRITTEN_VERSION = 10;
/** Read: up to Redis 8's newest. The form of a string has not changed in any of them. */
const NEWEST_VERSION = 13;

const TYPE_STRING = 0;
const FOOTER_BYTES = 10;

/** Lengths: the top two bits of the first byte tell the form. */
const LENGTH_32 = 0x80;
const LENGTH_64 = 0x81;
const ENCODED_INT8 = 0xc0;
const ENCODED_INT16 = 0xc1;
const ENCODED_INT32 = 0xc2;
const ENCODED_LZF = 0xc3;

/** Integers this long may be stored in binary form. */
const MAX_INTEGER_TEXT = 11;

export function dumpString(value: ByteString): ByteString {
  const integer = encodedInteger(value);
  const head = integer ?? lengthPrefix(value.length);
  const valueBytes = integer === undefined ? value.length : 0;
  const footerAt = 1 + head.length + valueBytes;
  const payload = Buffer.allocUnsafe(footerAt + FOOTER_BYTES);
  payload[0] = TYPE_STRING;
  head.copy(payload, 1);
  if (valueBytes > 0) payload.write(value, 1 + head.length, 'latin1');
  payload.writeUInt16LE(WRITTEN_VERSION, footerAt);
  crc64(payload, footerAt + 2).copy(payload, footerAt + 2);
  return bytesOfBuffer(payload);
}

/** Is the footer right: a version that is known, and the checksum? */
export function isIntact(payload: ByteString): boolean {
  if (payload.length < FOOTER_BYTES) return false;
  const bytes = bufferOfBytes(payload);
  const footerAt = bytes.length - FOOTER_BYTES;
  if (bytes.readUInt16LE(footerAt) > NEWEST_VERSION) return false;
  return crc64(bytes, footerAt + 2).equals(bytes.subarray(footerAt + 2));
}

/** The string in an intact payload; undefined for other types and for what cannot be read. */
export function restoreString(payload: ByteString, maxBytes: number): ByteString | undefined {
  const bytes = bufferOfBytes(payload).subarray(0, payload.length - FOOTER_BYTES);
  if (bytes[0] !== TYPE_STRING || bytes.length < 2) return undefined;
  const form = bytes[1] as number;
  if (form === ENCODED_INT8) return bytes.length === 3 ? String(bytes.readInt8(2)) : undefined;
  if (form === ENCODED_INT16) return bytes.length === 4 ? String(bytes.readInt16LE(2)) : undefined;
  if (form === ENCODED_INT32) return bytes.length === 6 ? String(bytes.readInt32LE(2)) : undefined;
  if (form === ENCODED_LZF) return compressedString(bytes, maxBytes);
  const length = readLength(bytes, 1);
  if (length === undefined || length.next + length.value !== bytes.length) return undefined;
  return bytes.toString('latin1', length.next);
}

function compressedString(bytes: Buffer, maxBytes: number): ByteString | undefined {
  const packed = readLength(bytes, 2);
  const plain = packed === undefined ? undefined : readLength(bytes, packed.next);
  if (packed === undefined || plain === undefined || plain.value > maxBytes) return undefined;
  if (plain.next + packed.value !== bytes.length) return undefined;
  return decompressLzf(bytes.subarray(plain.next), plain.value)?.toString('latin1');
}

function readLength(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first < 0x40) return { value: first, next: at + 1 };
  if (first < 0x80) {
    return at + 2 > bytes.length
      ? undefined
      : { value: ((first & 0x3f) << 8) | (bytes[at + 1] as number), next: at + 2 };
  }
  if (first === LENGTH_32 && at + 5 <= bytes.length) return { value: bytes.readUInt32BE(at + 1), next: at + 5 };
  if (first === LENGTH_64 && at + 9 <= bytes.length)
    return { value: Number(bytes.readBigUInt64BE(at + 1)), next: at + 9 };
  return undefined;
}

function encodedInteger(value: ByteString): Buffer | undefined {
  if (value.length > MAX_INTEGER_TEXT) return undefined;
  const number = parseInt64(value);
  if (typeof number !== 'number') return undefined;
  if (number >= -(2 ** 7) && number < 2 ** 7) return Buffer.of(ENCODED_INT8, number & 0xff);
  if (number >= -(2 ** 15) && number < 2 ** 15) return Buffer.of(ENCODED_INT16, number & 0xff, (number >> 8) & 0xff);
  if (number < -(2 ** 31) || number >= 2 ** 31) return undefined;
  const bytes = Buffer.allocUnsafe(5);
  bytes[0] = ENCODED_INT32;
  bytes.writeInt32LE(number, 1);
  return bytes;
}

function lengthPrefix(length: number): Buffer {
  if (length < 0x40) return Buffer.of(length);
  if (length < 0x4000) return Buffer.of(0x40 | (length >> 8), length & 0xff);
  const prefix = Buffer.allocUnsafe(5);
  prefix[0] = LENGTH_32;
  prefix.writeUInt32BE(length, 1);
  return prefix;
}
