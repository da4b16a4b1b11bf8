/** The definition of an index: the keys that it covers, and the fields of their documents. */
import type { ByteString } from '../../kernel/index.js';

export const FIELD_TYPES = ['TEXT', 'U64', 'I64', 'F64', 'BOOL', 'DATE', 'KEYWORD', 'FACET'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export const INDEX_SOURCES = ['STRING', 'HASH', 'JSON', 'STREAM'] as const;
export type IndexSource = (typeof INDEX_SOURCES)[number];

export interface IndexField {
  /** The name in filters and answers. */
  readonly path: string;
  readonly type: FieldType;
  /** Its values are kept by document: for sorting, scores and aggregations. */
  readonly isFast: boolean;
  /** NOTOKENIZE: the text is one word, exactly as written. */
  readonly isWhole: boolean;
  /** NOSTEM: words are kept as written, in lower case. */
  readonly keepsForms: boolean;
  /** FROM: the path in the document; undefined: `path`. */
  readonly from: string | undefined;
}

export interface IndexDefinition {
  readonly source: IndexSource;
  /** Empty for a stream. */
  readonly prefixes: readonly ByteString[];
  readonly stream: ByteString | undefined;
  readonly language: string;
  readonly fields: readonly IndexField[];
}

export function isNumeric(type: FieldType): boolean {
  return type === 'U64' || type === 'I64' || type === 'F64';
}

/** A refused definition, filter or option. The message is for the client. */
export class SearchProblem extends Error {}
