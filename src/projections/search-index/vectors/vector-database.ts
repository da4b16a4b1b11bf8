/** All namespaces of one index of vectors. */
import { decodeVector, VECTOR_LAYOUT, type VectorShape } from '../../../domain/search/index.js';
import type { Precision } from '../../../domain/vector-graph/index.js';
import { FoldedDatabase } from '../folded-database.js';
import { VectorNamespace } from './vector-namespace.js';

export class VectorDatabase extends FoldedDatabase<VectorNamespace> {
  constructor(shape: VectorShape, precision?: Precision) {
    super({
      layout: VECTOR_LAYOUT,
      dimensions: shape.dimension,
      create: () => new VectorNamespace(shape, shape.precision ?? precision),
      put: (namespace, id, stored) => namespace.put(id, decodeVector(stored), stored.length),
    });
  }

  /** Builds the graphs that queries use, in slices; documents may be added or removed between them. */
  *build(): Generator<void> {
    for (const [, { dense }] of this.named()) {
      while (dense.needsBuild) {
        dense.build();
        yield;
      }
    }
  }
}
