/**
 * The stored form of a vector with its metadata and data, as bytes:
 *     version (1), numbers of the dense vector, numbers of the sparse one; the dense numbers, the sparse dimensions and
 *     their numbers, four bytes each, little-endian; then the JSON text of {metadata?, data?}, empty if it has neither.
 */
import { type ByteString, bufferOfBytes, bytesOfBuffer, MillraceError } from '../../../kernel/index.js';
import { isDeeper, isJsonObject, type JsonObject } from '../documents.js';
import { MAX_DOCUMENT_DEPTH, MAX_METADATA_BYTES } from '../limits.js';
import { MAX_SPARSE_VALUES } from './vector-shape.js';

/** Numbers of 32 bits in answers: the shortest decimal number that is the same with 32 bits. */
const FEWEST_DIGITS = 6;
/** Nine digits always tell two numbers of 32 bits apart. */
const MOST_DIGITS = 9;

export function shortFloat(value: number): number {
  const float = Math.fround(value);
  if (Number.isInteger(float) && Math.abs(float) < 2 ** 24) return float;
  for (let digits = FEWEST_DIGITS; digits < MOST_DIGITS; digits += 1) {
    const short = Number(float.toPrecision(digits));
    if (Math.fround(short) === float) return short;
  }
  return Number(float.toPrecision(MOST_DIGITS));
}

export interface SparseVector {
  /** Different dimensions, 32-bit whole numbers. */
  readonly indices: Int32Array;
  /** In the order of `indices`. */
  readonly values: Float32Array;
}

export interface StoredVector {
  readonly dense?: Float32Array | undefined;
  readonly sparse?: SparseVector | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly data?: string | undefined;
}

/** UTF-8 bytes of a document's data; a long article has about 30,000. */
const MAX_VECTOR_DATA_BYTES = 256 * 1024;

const VERSION = 1;
const NUMBER_BYTES = 4;
const HEAD_BYTES = 3 * NUMBER_BYTES;

export function encodeVector({ dense, sparse, metadata, data }: StoredVector): ByteString {
  const rest = metadata === undefined && data === undefined ? '' : JSON.stringify({ metadata, data });
  const head = new Uint32Array([VERSION, dense?.length ?? 0, sparse?.indices.length ?? 0]);
  const numbers = [head, dense, sparse?.indices, sparse?.values].flatMap((part) =>
    part === undefined ? [] : [bytesIn(part)],
  );
  return bytesOfBuffer(Buffer.concat([...numbers, Buffer.from(rest, 'utf8')]));
}

/** @throws INVALID for bytes that `encodeVector` did not make */
export function decodeVector(bytes: ByteString): StoredVector {
  const buffer = bufferOfBytes(bytes);
  if (buffer.length < HEAD_BYTES || buffer.readUInt32LE(0) !== VERSION) throw unknownForm();
  const [dense, sparse] = [buffer.readUInt32LE(NUMBER_BYTES), buffer.readUInt32LE(2 * NUMBER_BYTES)];
  const end = HEAD_BYTES + (dense + 2 * sparse) * NUMBER_BYTES;
  if (buffer.length < end) throw unknownForm();
  // Copied, because the numbers must be aligned.
  const numbers = new Uint8Array(buffer.subarray(HEAD_BYTES, end)).buffer;
  const sparseAt = dense * NUMBER_BYTES;
  return {
    dense: dense === 0 ? undefined : new Float32Array(numbers, 0, dense),
    sparse:
      sparse === 0
        ? undefined
        : {
            indices: new Int32Array(numbers, sparseAt, sparse),
            values: new Float32Array(numbers, sparseAt + sparse * NUMBER_BYTES, sparse),
          },
    ...restOf(buffer.subarray(end)),
  };
}

function restOf(json: Buffer): Pick<StoredVector, 'metadata' | 'data'> {
  if (json.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch (cause) {
    throw new MillraceError('INVALID', 'the text of a stored vector is no JSON', {}, cause);
  }
  const { metadata, data } = isJsonObject(value) ? value : {};
  if (metadata !== undefined && !isJsonObject(metadata)) throw unknownForm();
  if (data !== undefined && typeof data !== 'string') throw unknownForm();
  return { metadata, data };
}

function bytesIn({ buffer, byteOffset, byteLength }: Uint32Array | Int32Array | Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function unknownForm(): MillraceError {
  return new MillraceError('INVALID', 'a stored vector has another form');
}

/** The reason why metadata is refused; undefined: accepted. */
export function metadataProblem(metadata: JsonObject): string | undefined {
  if (isDeeper(metadata, MAX_DOCUMENT_DEPTH)) return `metadata may be nested ${MAX_DOCUMENT_DEPTH} levels deep`;
  const bytes = Buffer.byteLength(JSON.stringify(metadata), 'utf8');
  if (bytes <= MAX_METADATA_BYTES) return undefined;
  return `metadata has ${bytes} bytes as JSON, at most ${MAX_METADATA_BYTES} are allowed`;
}

export function dataProblem(data: string): string | undefined {
  const bytes = Buffer.byteLength(data, 'utf8');
  if (bytes <= MAX_VECTOR_DATA_BYTES) return undefined;
  return `data has ${bytes} bytes, at most ${MAX_VECTOR_DATA_BYTES} are allowed`;
}

/** Numbers as they are stored; undefined if one is no number or too large for 32 bits. */
export function floatsOf(values: readonly unknown[]): Float32Array | undefined {
  const floats = new Float32Array(values.length);
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (typeof value !== 'number') return undefined;
    floats[at] = value;
    if (!Number.isFinite(floats[at])) return undefined;
  }
  return floats;
}

const LOWEST_DIMENSION = -(2 ** 31);
const HIGHEST_DIMENSION = 2 ** 31 - 1;

/** @returns the vector, or the reason why it is refused */
export function sparseOf(given: unknown): SparseVector | string {
  const { indices, values } = isJsonObject(given) ? given : {};
  if (!Array.isArray(indices) || !Array.isArray(values)) return 'must be an object with the arrays indices and values';
  if (indices.length !== values.length) return 'indices and values must have the same length';
  if (indices.length === 0) return 'must have at least one dimension';
  if (indices.length > MAX_SPARSE_VALUES)
    return `has ${indices.length} dimensions, at most ${MAX_SPARSE_VALUES} are allowed`;
  const floats = floatsOf(values);
  if (floats === undefined) return 'values must be numbers of 32 bits';
  for (const index of indices) {
    if (!Number.isInteger(index) || index < LOWEST_DIMENSION || index > HIGHEST_DIMENSION) {
      return 'indices must be whole numbers of 32 bits';
    }
  }
  if (new Set(indices).size !== indices.length) return 'indices must be different numbers';
  return { indices: Int32Array.from(indices), values: floats };
}
