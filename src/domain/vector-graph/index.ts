/** Sets of vectors in several precisions, and a graph that finds the nearest of many. Pure. */

export { PackedVectors, type Precision, type QueryVector } from './packed-vectors.js';
export { GRAPH_FROM, type Likeness, VectorCollection } from './vector-collection.js';
