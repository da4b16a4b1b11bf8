/**
 * Encodes large entries in slices between which other work runs, with the same bytes and hashes as the plain codec.
 * Effects are copied once, into the chunks.
 *
 * A MessagePack list is the concatenation of its fields: an empty field is encoded first and then replaced by the real
 * one.
 */
import { createHash } from 'node:crypto';
import type { Entry, EntryBody, Section } from '../../protocol/index.js';
import type { EncodedEntry } from './chunking.js';
import { encodeChunk, encodeCommit, encodeEntry, encodeSection, sectionHashHead } from './entry-codec.js';

/** Bytes hashed or copied in one slice: about half a millisecond. */
const STEP_BYTES = 512 * 1024;

const NOTHING = new Uint8Array(0);
/** Encoded size of an empty list, and of empty bytes. */
const EMPTY_LIST_BYTES = 1;
const EMPTY_BYTES = 2;

export type BatchEntry = Entry & { readonly body: Extract<EntryBody, { kind: 'batch' }> };

/** The same as `encodeForJournal`, in slices. Effects must not change until it is done. */
export function* encodeInSteps(entry: BatchEntry, chunkBytes: number): Generator<void, EncodedEntry> {
  const pieces = piecesOf(entry);
  const totalBytes = bytesOf(pieces);
  const whole = createHash('sha256');
  for (const some of cut(pieces, STEP_BYTES)) {
    for (const piece of some) whole.update(piece);
    yield;
  }
  const hash = whole.digest();
  if (totalBytes <= chunkBytes) return { messages: [Buffer.concat(pieces)], hash, totalBytes };
  const { shard, epoch, writer, number, clockMs } = entry;
  const messages: Uint8Array[] = [];
  for (const some of cut(pieces, chunkBytes)) {
    const chunk = { kind: 'chunk', shard, epoch, writer, number, part: messages.length, bytes: NOTHING } as const;
    messages.push(Buffer.concat([withoutEnd(encodeChunk(chunk), EMPTY_BYTES), bytesHead(bytesOf(some)), ...some]));
    yield;
  }
  const parts = messages.length;
  messages.push(encodeCommit({ kind: 'commit', shard, epoch, writer, number, parts, totalBytes, hash, clockMs }));
  return { messages, hash, totalBytes };
}

/** The same as `hashSection`, in slices. */
export function* hashSectionInSteps(section: Section): Generator<void, Uint8Array> {
  const hash = createHash('sha256').update(sectionHashHead(section));
  for (const some of cut([section.effects], STEP_BYTES)) {
    for (const piece of some) hash.update(piece);
    yield;
  }
  return hash.digest();
}

/** Concatenates the pieces. */
export function* joinedInSteps(pieces: readonly Uint8Array[]): Generator<void, Uint8Array> {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  const joined = Buffer.allocUnsafeSlow(bytesOf(pieces));
  let at = 0;
  for (const some of cut(pieces, STEP_BYTES)) {
    for (const piece of some) {
      joined.set(piece, at);
      at += piece.length;
    }
    yield;
  }
  return joined;
}

/** Pieces whose concatenation is the entry. */
function piecesOf(entry: BatchEntry): Uint8Array[] {
  const { commandIds, sections } = entry.body;
  const head = encodeEntry({ ...entry, body: { kind: 'batch', commandIds, sections: [] } });
  const pieces = [withoutEnd(head, EMPTY_LIST_BYTES), listHead(sections.length)];
  for (const section of sections) {
    const { effects } = section;
    const around = encodeSection({ ...section, effects: NOTHING });
    const before = encodeSection({ ...section, effects: NOTHING, authors: undefined }).length - EMPTY_BYTES;
    pieces.push(around.subarray(0, before), bytesHead(effects.length), effects, around.subarray(before + EMPTY_BYTES));
  }
  return pieces;
}

/** Groups of that many bytes, the last with the rest; no bytes are copied. */
function* cut(pieces: readonly Uint8Array[], bytes: number): Generator<readonly Uint8Array[]> {
  let group: Uint8Array[] = [];
  let room = bytes;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + room);
      group.push(part);
      from += part.length;
      room -= part.length;
      if (room > 0) continue;
      yield group;
      group = [];
      room = bytes;
    }
  }
  if (group.length > 0) yield group;
}

function withoutEnd(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.subarray(0, bytes.length - count);
}

export function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((bytes, piece) => bytes + piece.length, 0);
}

function listHead(count: number): Uint8Array {
  if (count < 16) return Uint8Array.of(0x90 | count);
  return count < 0x10000 ? sized(0xdc, count, 2) : sized(0xdd, count, 4);
}

function bytesHead(count: number): Uint8Array {
  if (count < 0x100) return sized(0xc4, count, 1);
  return count < 0x10000 ? sized(0xc5, count, 2) : sized(0xc6, count, 4);
}

function sized(tag: number, count: number, width: 1 | 2 | 4): Uint8Array {
  const head = Buffer.alloc(1 + width, tag);
  head.writeUIntBE(count, 1, width);
  return head;
}
