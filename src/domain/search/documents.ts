/**
 * The stored form of documents: keys of the single partition of their search database.
 *     d:<index name>   hash        id → JSON text of {content, metadata?, vector?}
 *     o:<index name>   sorted set  ids, all with score 0, so that ranges and prefixes go by the order of their bytes
 *     i                hash        index name → number of its creation, growing
 *     b                hash        index name → bytes of its documents, ids and texts
 *     c                hash        `documents` and `bytes` of all indexes together; `names`: ever created
 * A database of vectors has its texts in several hashes (document-layout.ts), and in addition:
 *     s:<namespace>    sorted set  ids, the score is the number of the id's first write in that namespace
 *     n                hash        namespace → the last such number
 *     r                hash        id of a resumable query → its state; fields expire
 * Its `c` also has `writes`, the number of all writes.
 * Names and texts are UTF-8. Searches read only `d:`; the other keys serve lists and the rules of writing
 * (document-writes.ts).
 */
import { type ByteString, bytesOfText, MillraceError, textOfBytes } from '../../kernel/index.js';
import { MAX_CONTENT_CHARACTERS, MAX_DOCUMENT_DEPTH, MAX_METADATA_BYTES, MAX_VECTOR_DIMENSIONS } from './limits.js';

/** Values as `JSON.parse` returns them. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface StoredDocument {
  /** Searched and filtered. */
  readonly content: JsonObject;
  /** Filtered, never searched. */
  readonly metadata?: JsonObject | undefined;
  /** The client's own vector. */
  readonly vector?: readonly number[] | undefined;
}

/** The names of the database's indexes. */
export const INDEX_NAMES_KEY: ByteString = 'i';
/** The bytes of each index. */
export const BYTES_KEY: ByteString = 'b';
/** The last number of each namespace of vectors. */
export const NUMBERS_KEY: ByteString = 'n';
/** The totals of all indexes. */
export const COUNTS_KEY: ByteString = 'c';
/** Its number of writes, kept for vectors only. */
export const WRITES_FIELD: ByteString = 'writes';
/** The score of every member of `o:`. */
export const ORDER_SCORE: ByteString = '0';

export function encodeDocument({ content, metadata, vector }: StoredDocument): ByteString {
  return bytesOfText(JSON.stringify({ content, metadata, vector }));
}

/** @throws INVALID for bytes that `encodeDocument` did not make */
export function decodeDocument(bytes: ByteString): StoredDocument {
  let value: unknown;
  try {
    value = JSON.parse(textOfBytes(bytes));
  } catch (cause) {
    throw new MillraceError('INVALID', 'a stored document is no JSON', {}, cause);
  }
  const { content, metadata, vector } = isJsonObject(value) ? value : {};
  const isWhole =
    isJsonObject(content) &&
    (metadata === undefined || isJsonObject(metadata)) &&
    (vector === undefined || (Array.isArray(vector) && vector.every(Number.isFinite)));
  if (!isWhole) throw new MillraceError('INVALID', 'a stored document has another form');
  return { content, metadata, vector } as StoredDocument;
}

interface DocumentLimits {
  /** Characters of the content's JSON text. */
  readonly contentCharacters: number;
  /** UTF-8 bytes of the metadata's JSON text. */
  readonly metadataBytes: number;
}

export const DEFAULT_DOCUMENT_LIMITS: DocumentLimits = {
  contentCharacters: MAX_CONTENT_CHARACTERS,
  metadataBytes: MAX_METADATA_BYTES,
};

/** The reason, for the client, why a document is refused; undefined: accepted. */
export function documentProblem(
  { content, metadata, vector }: StoredDocument,
  limits: DocumentLimits = DEFAULT_DOCUMENT_LIMITS,
): string | undefined {
  if (isDeeper(content, MAX_DOCUMENT_DEPTH) || isDeeper(metadata, MAX_DOCUMENT_DEPTH)) {
    return `objects and arrays may be nested ${MAX_DOCUMENT_DEPTH} levels deep`;
  }
  const characters = JSON.stringify(content).length;
  if (characters > limits.contentCharacters) {
    return `content has ${characters} characters as JSON, at most ${limits.contentCharacters} are allowed`;
  }
  const bytes = metadata === undefined ? 0 : Buffer.byteLength(JSON.stringify(metadata), 'utf8');
  if (bytes > limits.metadataBytes) {
    return `metadata has ${bytes} bytes as JSON, at most ${limits.metadataBytes} are allowed`;
  }
  return vector === undefined ? undefined : vectorProblem(vector);
}

/** The reason why a client's vector is refused; undefined: accepted. */
export function vectorProblem(vector: readonly number[]): string | undefined {
  if (vector.length === 0 || vector.length > MAX_VECTOR_DIMENSIONS) {
    return `a vector must have 1 to ${MAX_VECTOR_DIMENSIONS} dimensions`;
  }
  if (!vector.every(Number.isFinite)) return 'a vector must contain only finite numbers';
  return vector.every((value) => value === 0) ? 'a vector must not contain only zeros' : undefined;
}

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
