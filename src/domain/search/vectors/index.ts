export * from './embedding-models.js';
export { shortFloat } from './float-text.js';
export { FUSIONS, type Fusion, fused, type RankedId } from './fusion.js';
export { hashedText } from './hashed-texts.js';
export { sparseOfDocument, sparseOfQuery } from './sparse-texts.js';
export * from './vector-documents.js';
export { inverseFrequency, scoreOf } from './vector-scores.js';
export * from './vector-shape.js';
