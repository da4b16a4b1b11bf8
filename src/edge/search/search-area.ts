/** The OpenAPI descriptions of the data planes of search indexes and of indexes of vectors. */
import { SEARCH_REFUSALS } from '../error-map.js';
import type { ApiArea } from '../http/openapi/area.js';
import { record, TEXT, WHOLE } from '../http/openapi/parts.js';
import { SEARCH_ROUTES } from './commands/index.js';
import { VECTOR_ROUTES } from './vectors/index.js';

type Shared = Omit<ApiArea, 'name' | 'description' | 'routes' | 'security'>;

/** @param resource the noun for a database of the plane. @param refused refusals by status that the planes differ in */
function shared(resource: string, refused: ReturnType<ApiArea['refusals']>): Shared {
  return {
    client: { url: 'MILLRACE_MGMT_URL', token: 'INDEX_TOKEN' },
    access: ({ permission }) =>
      `Needs a token of the ${resource}. The read-only token ${permission === 'read' ? 'is sufficient' : 'is refused'}.`,
    needsBody: true,
    error: record({ error: TEXT, status: WHOLE }),
    wrapped: (result) => record({ result }),
    refusals: () => ({
      400: { about: 'The request is not valid; the text says why.', text: 'topK must be from 1 to 1000' },
      401: { about: 'The token is wrong.', text: SEARCH_REFUSALS.unauthorized.text },
      403: { about: 'The token is read-only, or the index is full.', text: SEARCH_REFUSALS.readOnly.text },
      413: { about: 'The body is too long.', text: 'body is too large, current limit: 1048576 bytes' },
      429: {
        about: 'A limit per second or per day is reached, or too many failed sign-ins.',
        text: 'too many requests in this second',
      },
      503: { about: 'Not possible right now.', text: 'server is busy, nothing was done' },
      ...refused,
    }),
  };
}

export const SEARCH_AREA: ApiArea = {
  ...shared('search database', {
    404: { about: 'There is no such index.', text: 'Namespace news for the index papers does not exist' },
  }),
  name: 'search',
  description: 'Documents of search indexes.',
  routes: SEARCH_ROUTES,
  security: { indexToken: { type: 'http', scheme: 'bearer', description: 'A token of the search index.' } },
};

export const VECTOR_AREA: ApiArea = {
  ...shared('index', {
    404: { about: 'There is no such namespace.', text: 'Namespace news for the index films does not exist' },
    422: { about: 'The body does not fit the index.', text: 'Invalid vector dimension: 2, expected: 256' },
  }),
  name: 'vector',
  description: 'Vectors with metadata, and queries for the nearest ones.',
  routes: VECTOR_ROUTES,
  security: { vectorToken: { type: 'http', scheme: 'bearer', description: 'A token of the index of vectors.' } },
  prefix: 'vector',
};
