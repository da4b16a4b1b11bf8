/** What the OpenAPI document says of the data plane of search indexes as a whole. */
import type { ApiArea } from '../http/openapi/area.js';
import { ERROR_SCHEMA, record, TEXT, WHOLE } from '../http/openapi/parts.js';
import { SEARCH_ROUTES } from './commands/index.js';

export const SEARCH_AREA: ApiArea = {
  name: 'search',
  description: 'Documents of search indexes.',
  routes: SEARCH_ROUTES,
  security: [{ bearer: [] }],
  needsBody: true,
  error: { allOf: [ERROR_SCHEMA], properties: { error: TEXT, status: WHOLE } },
  wrapped: (result) => record({ result }),
  refusals: () => ({ 401: 'The token is wrong.', 403: 'The token may only look, or the index is full.' }),
};
