/** The published vector client against the data plane, with a projection that follows immediately. */

import type { VectorShape } from '../../../../src/domain/search/index.js';
import { VectorDatabase } from '../../../../src/projections/search-index/index.js';
import { SEARCH_READ_TOKEN, SEARCH_TOKEN, SearchEndpointHarness } from '../../../support/search-endpoint.js';
import { FollowedGateway } from '../../../support/search-follower.js';
import { describeVectorClient, type WantedIndex } from '../../../support/vector-client-program.js';

const PLAIN = { metric: 'COSINE', denseModel: '', sparseModel: '' } as const;
const SHAPES: Readonly<Record<WantedIndex, VectorShape>> = {
  dense: { ...PLAIN, kind: 'DENSE', dimension: 3 },
  texts: { ...PLAIN, kind: 'DENSE', dimension: 384, denseModel: 'HASHING_384' },
  sparse: { ...PLAIN, kind: 'SPARSE', dimension: 0 },
  hybrid: { ...PLAIN, kind: 'HYBRID', dimension: 384, denseModel: 'HASHING_384', sparseModel: 'BM25' },
};

describe('vector data plane: published client', () => {
  const faces: SearchEndpointHarness[] = [];
  after(() => Promise.all(faces.map((face) => face.stop())));

  describeVectorClient(async (wanted) => {
    const gateway = new FollowedGateway(new VectorDatabase(SHAPES[wanted]));
    const face = new SearchEndpointHarness({ gateway, queries: gateway });
    face.vectors = SHAPES[wanted];
    faces.push(await face.start());
    return { url: face.url, token: SEARCH_TOKEN, readOnlyToken: SEARCH_READ_TOKEN };
  });
});
