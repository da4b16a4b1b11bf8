/** The kind of an index of vectors, fixed when it is made: which vectors it has and how they are compared. */

export const VECTOR_KINDS = ['DENSE', 'SPARSE', 'HYBRID'] as const;
export type VectorKind = (typeof VECTOR_KINDS)[number];

export const VECTOR_SIMILARITIES = ['COSINE', 'EUCLIDEAN', 'DOT_PRODUCT'] as const;
export type VectorSimilarity = (typeof VECTOR_SIMILARITIES)[number];

/** The numbers of dense vectors that queries compare: of 32 or 16 bits, or bytes. Stored vectors always have 32. */
export const VECTOR_PRECISIONS = ['F32', 'F16', 'I8'] as const;
export type VectorPrecision = (typeof VECTOR_PRECISIONS)[number];

export interface VectorShape {
  readonly kind: VectorKind;
  readonly metric: VectorSimilarity;
  /** Of dense vectors; 0 for a sparse index. */
  readonly dimension: number;
  /** Embeds texts as dense and as sparse vectors; '': texts are refused. */
  readonly denseModel: string;
  readonly sparseModel: string;
  /** Undefined: that of the installation. */
  readonly precision?: VectorPrecision | undefined;
}

/** Dimensions of dense vectors: above those of current models. */
export const MAX_DENSE_DIMENSION = 4096;
/** Dimensions of one sparse vector that are not zero. */
export const MAX_SPARSE_VALUES = 1000;

export function hasDense({ kind }: VectorShape): boolean {
  return kind !== 'SPARSE';
}

export function hasSparse({ kind }: VectorShape): boolean {
  return kind !== 'DENSE';
}
