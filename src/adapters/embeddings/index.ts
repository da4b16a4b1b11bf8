/** Vectors of texts from a provider over HTTP. */
export { ProvidedEmbeddings } from './provided-embeddings.js';
