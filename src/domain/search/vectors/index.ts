export * from './embedding-models.js';
export { FUSIONS, type Fusion, fused, type RankedId } from './fusion.js';
export { hashedText, inverseFrequency, scoreOf, sparseOfDocument, sparseOfQuery } from './text-vectors.js';
export * from './vector-documents.js';
export { shortFloat } from './vector-documents.js';
export * from './vector-shape.js';
