/**
 * Names of the models that embed texts of an index of vectors. The name in an index's record says the method that really
 * makes its vectors: without a provider of embeddings a text is hashed, and the name begins with `HASHING_`.
 */

/** Dimensions of the models that clients know by name. */
const KNOWN_DIMENSIONS: Readonly<Record<string, number>> = {
  BGE_SMALL_EN_V1_5: 384,
  BGE_BASE_EN_V1_5: 768,
  BGE_LARGE_EN_V1_5: 1024,
  BGE_M3: 1024,
};
const HASHING = 'HASHING';
/** The only sparse method here. */
export const SPARSE_MODEL = 'BM25';
/** Names that select it. */
export const SPARSE_MODEL_NAMES: readonly string[] = [SPARSE_MODEL, 'BGE_M3'];
export const MAX_MODEL_CHARACTERS = 100;

export interface DenseModel {
  readonly model: string;
  readonly dimension: number;
}

export function isHashing(model: string): boolean {
  return model.startsWith(`${HASHING}_`);
}

/**
 * @param requested as the client names it. @param dimension 0: not given
 * @returns the model of the index, or the reason why it cannot have it
 */
export function denseModelOf(requested: string, dimension: number, hasProvider: boolean): DenseModel | string {
  const known = KNOWN_DIMENSIONS[requested] ?? (dimension || undefined);
  const isHashed = requested === HASHING || isHashing(requested);
  if (known === undefined) return 'dimension_count: is required with this embedding_model';
  if (dimension !== 0 && dimension !== known) return `dimension_count: ${requested} has ${known} dimensions`;
  if (!isHashed && hasProvider) return { model: requested, dimension: known };
  if (!isHashed && KNOWN_DIMENSIONS[requested] === undefined) {
    const names = [...Object.keys(KNOWN_DIMENSIONS), HASHING].join(', ');
    return `embedding_model: this server has no provider of embeddings, so it must be one of ${names}`;
  }
  return { model: `${HASHING}_${known}`, dimension: known };
}
