/** Every route of the operators' API, by declaration, and what the OpenAPI document says of all of them. */
import type { ApiArea } from '../../http/openapi/area.js';
import type { AdminRoute } from '../admin-call.js';
import { CLUSTER_ROUTES } from './cluster.js';
import { DATABASE_KEY_ROUTES } from './keys.js';
import { LIVE_ROUTES } from './live.js';
import { PAST_ROUTES } from './past.js';
import { SESSION_ROUTES } from './sessions.js';
import { STEERING_ROUTES } from './steering.js';

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...SESSION_ROUTES,
  ...DATABASE_KEY_ROUTES,
  ...PAST_ROUTES,
  ...LIVE_ROUTES,
  ...CLUSTER_ROUTES,
  ...STEERING_ROUTES,
];

export const OPERATORS_AREA: ApiArea = {
  name: 'operators',
  description: 'The past of databases and queues, its proof, what goes on right now, and the cluster.',
  routes: ADMIN_ROUTES,
  // A session is a bearer token, or the cookie that it came with.
  security: [{ basic: [] }, { bearer: [] }],
  refusals: ({ parameters }, path) => ({
    ...(parameters.length === 0 ? {} : { 400: 'A parameter is wrong; the text names it.' }),
    401: 'Nobody is known by these credentials.',
    403: 'This person may not.',
    ...(path.includes('{') ? { 404: 'There is no such thing in this account.' } : {}),
    429: 'Failed sign-ins from this address; `Retry-After` says when to come back.',
  }),
};
