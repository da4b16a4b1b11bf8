/** RDB files made byte by byte, for what no server of today writes any more. */
import { crc64 } from '../../src/domain/kv/types/crc64.js';
import { RdbWriter } from '../../src/domain/kv/types/rdb/rdb-writer.js';

/** @param parts bytes between the version and the end mark. @returns a whole file */
export function rdbFile(parts: readonly string[], { version = 11, checksum = true } = {}): Buffer {
  const body = Buffer.from(`REDIS${String(version).padStart(4, '0')}${parts.join('')}\xff`, 'latin1');
  if (version < 5) return body;
  return Buffer.concat([body, checksum ? crc64(body, body.length) : Buffer.alloc(8)]);
}

/** A key with its value. @param bytes of the value, in that form */
export function keyOf(form: number, name: string, bytes: string): string {
  return String.fromCharCode(form) + text(name) + bytes;
}

/** Any number of bytes as a string of the file: its length in front. */
export function text(bytes: string): string {
  const out = new RdbWriter();
  // Its plain form, not that of a number.
  out.size(bytes.length);
  return out.toBytes() + bytes;
}

export function size(value: number | bigint): string {
  const out = new RdbWriter();
  out.size(value);
  return out.toBytes();
}

export function instant(atMs: number): string {
  const out = new RdbWriter();
  out.instant(atMs);
  return out.toBytes();
}

/** A module's name and version, as the nine bytes that stand for them. */
export function moduleName(name: string, version: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  let id = 0n;
  for (const letter of name) id = (id << 6n) | BigInt(letters.indexOf(letter));
  const bytes = Buffer.alloc(9, 0x81);
  bytes.writeBigUInt64BE((id << 10n) | BigInt(version), 1);
  return bytes.toString('latin1');
}

/** Words of at most 63 bytes as a ziplist. */
export function ziplist(words: readonly string[]): string {
  let body = '';
  let before = 0;
  for (const word of words) {
    const entry = String.fromCharCode(before, word.length) + word;
    before = entry.length;
    body += entry;
  }
  const head = Buffer.alloc(10);
  head.writeUInt32LE(10 + body.length + 1, 0);
  head.writeUInt32LE(10 + body.length - before, 4);
  head.writeUInt16LE(words.length, 8);
  return `${head.toString('latin1')}${body}\xff`;
}

/** Fields and values in turn, with `free` unused bytes behind each value. */
export function zipmap(words: readonly string[], free = 0): string {
  const length = (count: number) => {
    if (count < 254) return String.fromCharCode(count);
    const bytes = Buffer.alloc(5, 254);
    bytes.writeUInt32LE(count, 1);
    return bytes.toString('latin1');
  };
  const body = words.map((word, at) =>
    at % 2 === 0
      ? length(word.length) + word
      : `${length(word.length)}${String.fromCharCode(free)}${word}${'\0'.repeat(free)}`,
  );
  return `${String.fromCharCode(words.length / 2)}${body.join('')}\xff`;
}
