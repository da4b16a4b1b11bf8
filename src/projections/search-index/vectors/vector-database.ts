/** All namespaces of one index of vectors. */
import { decodeVector, VECTOR_LAYOUT, type VectorShape } from '../../../domain/search/index.js';
import { FoldedDatabase } from '../folded-database.js';
import { VectorNamespace } from './vector-namespace.js';

export class VectorDatabase extends FoldedDatabase<VectorNamespace> {
  constructor(shape: VectorShape) {
    super({
      layout: VECTOR_LAYOUT,
      dimensions: shape.dimension,
      create: () => new VectorNamespace(shape),
      put: (namespace, id, stored) => namespace.put(id, decodeVector(stored), stored.length),
    });
  }
}
