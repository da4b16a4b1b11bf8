/**
 * A filter or sketch: a value of bounded size that answers approximately. Its contents are some words and arrays of bytes of
 * fixed lengths, so all kinds are rebuilt, copied and compared in one way.
 *
 * Invariants
 *
 *  SKE1 equal changes in equal states give equal bytes: chance is part of the state, and no clock is read
 *  SKE2 an array of bytes never changes its length
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { Collection, SketchKind, UndoRecorder } from '../../value.js';

export interface SketchForm {
  /** From these words an empty sketch with arrays of the right lengths is made. */
  readonly words: readonly ByteString[];
  readonly parts: readonly Uint8Array[];
}

/** Effects that rebuild a sketch. They only run in replay. */
export const BEGIN_EFFECT = 'SKETCH.BEGIN';
export const LOAD_EFFECT = 'SKETCH.LOAD';
/** Rows of counters: each costs a hash of the item, and 2^-1000 is below every probability of an error. */
export const MAX_ROWS = 1000;
const CHUNK_BYTES = 64 * 1024;

export abstract class Sketch implements Collection {
  abstract readonly kind: SketchKind;
  abstract readonly size: number;
  abstract readonly bytes: number;
  readonly encoding = 'raw';
  readonly mayBeEmpty = true;
  readonly hasOrder = true;
  undo: UndoRecorder | undefined;

  abstract form(): SketchForm;
  abstract clone(): Sketch;
  abstract keepState(undo: UndoRecorder): void;

  /** Writes bytes into an array of the form. */
  load(part: number, offset: number, bytes: Uint8Array): void {
    const target = this.form().parts[part];
    if (target === undefined || offset + bytes.length > target.length) throw new RangeError('bytes beyond a sketch');
    target.set(bytes, offset);
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    const { words, parts } = this.form();
    yield [BEGIN_EFFECT, key, this.kind, ...words];
    for (const [part, bytes] of parts.entries()) yield* loadCommands(key, part, bytes);
  }

  *contents(): Iterable<ByteString> {
    const { words, parts } = this.form();
    yield* words;
    for (const bytes of parts) for (const [offset, chunk] of chunksOf(bytes)) yield `${offset} ${chunk}`;
  }
}

/** The commands that write the bytes into a new sketch. */
export function* loadCommands(key: ByteString, part: number, bytes: Uint8Array): Iterable<ByteString[]> {
  for (const [offset, chunk] of chunksOf(bytes)) yield [LOAD_EFFECT, key, String(part), String(offset), chunk];
}

/** Chunks with their offsets, without those of zeros: a new sketch has them already. */
function* chunksOf(bytes: Uint8Array): Iterable<[offset: number, chunk: ByteString]> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let offset = 0; offset < all.length; offset += CHUNK_BYTES) {
    const chunk = all.subarray(offset, offset + CHUNK_BYTES);
    if (!isZero(chunk)) yield [offset, chunk.toString('latin1')];
  }
}

const ZEROS = Buffer.alloc(CHUNK_BYTES);

function isZero(chunk: Buffer): boolean {
  return chunk.equals(ZEROS.subarray(0, chunk.length));
}

/** The bytes of numbers, in this machine's order, which is little-endian on all supported ones. */
export function bytesOfNumbers(numbers: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
