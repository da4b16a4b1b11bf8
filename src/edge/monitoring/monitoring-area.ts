/** What the OpenAPI document says of the scrape endpoint. */
import type { Area } from '../http/openapi/area.js';
import { SCRAPE_ROUTES } from './scrape-routes.js';

export const MONITORING_AREA: Area = {
  name: 'monitoring',
  description: 'Metrics for scrapers, with a token of their own.',
  routes: SCRAPE_ROUTES,
  security: [{ bearer: [] }],
  refusals: () => ({
    400: 'A selector is wrong.',
    401: 'The token is missing or wrong.',
    429: 'Failed sign-ins from this address; `Retry-After` says when to come back.',
  }),
};
