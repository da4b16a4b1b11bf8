/** Builds RDB files byte by byte, for encodings that current servers do not write. */
import { crc64 } from '../../src/domain/kv/types/crc64.js';
import { RdbWriter } from '../../src/domain/kv/types/rdb/rdb-writer.js';

/** @param parts the bytes between the version and the end mark. @returns a complete file */
export function rdbFile(parts: readonly string[], { version = 11, checksum = true } = {}): Buffer {
  const body = Buffer.from(`REDIS${String(version).padStart(4, '0')}${parts.join('')}\xff`, 'latin1');
  if (version < 5) return body;
  return Buffer.concat([body, checksum ? crc64(body, body.length) : Buffer.alloc(8)]);
}

/** A key with its value. @param bytes the value in the encoding `form` */
export function keyOf(form: number, name: string, bytes: string): string {
  return String.fromCharCode(form) + text(name) + bytes;
}

/** A string of any length, with its length before it. */
export function text(bytes: string): string {
  const out = new RdbWriter();
  // The plain encoding, not the one of an integer.
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

/** The nine bytes that encode a module's name and version. */
export function moduleName(name: string, version: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  let id = 0n;
  for (const letter of name) id = (id << 6n) | BigInt(letters.indexOf(letter));
  const bytes = Buffer.alloc(9, 0x81);
  bytes.writeBigUInt64BE((id << 10n) | BigInt(version), 1);
  return bytes.toString('latin1');
}

/** A ziplist of words with at most 63 bytes. */
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

/** A zipmap of alternating fields and values, with `free` unused bytes after each value. */
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
