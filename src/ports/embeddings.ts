/** Vectors of texts, from a model that understands them. */
export interface Embeddings {
  /**
   * @param dimension every vector has this length
   * @returns one vector for each text, in their order; or the reason why there are none, for the client
   */
  embed(model: string, dimension: number, texts: readonly string[]): Promise<readonly Float32Array[] | string>;
}
