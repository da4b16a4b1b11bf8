/** All declared routes of the operators' API, and their area of the OpenAPI document. */
import { MANAGEMENT_REFUSALS, tooManyFailures } from '../../error-map.js';
import type { ApiArea } from '../../http/openapi/area.js';
import { MANAGEMENT_CLIENT, MANAGEMENT_KEY, SESSION_COOKIE } from '../../sessions/session-schemes.js';
import { accessOf } from '../../team-permissions.js';
import type { AdminRoute } from '../admin-call.js';
import { ADMIN_SCHEMAS } from '../admin-schemas.js';
import { BACKUP_DOWNLOAD_ROUTES } from './backup-download.js';
import { CLUSTER_ROUTES } from './cluster.js';
import { DATABASE_KEY_ROUTES } from './keys.js';
import { LIVE_ROUTES } from './live.js';
import { PAST_ROUTES } from './past.js';
import { SESSION_ROUTES } from './sessions.js';
import { STEERING_ROUTES } from './steering.js';

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...SESSION_ROUTES,
  ...DATABASE_KEY_ROUTES,
  ...BACKUP_DOWNLOAD_ROUTES,
  ...PAST_ROUTES,
  ...LIVE_ROUTES,
  ...CLUSTER_ROUTES,
  ...STEERING_ROUTES,
];

export const OPERATORS_AREA: ApiArea = {
  name: 'operators',
  description: 'The history of databases and queues, its verification, live events, and the cluster.',
  routes: ADMIN_ROUTES,
  schemas: ADMIN_SCHEMAS,
  security: {
    managementKey: MANAGEMENT_KEY,
    session: { type: 'http', scheme: 'bearer', description: 'The session token of POST /v2/admin/sessions.' },
    sessionCookie: SESSION_COOKIE,
  },
  client: MANAGEMENT_CLIENT,
  access: accessOf,
  refusals: ({ parameters }, path) => ({
    ...(parameters.length === 0
      ? {}
      : { 400: { about: 'A parameter is wrong; the text names it.', text: 'limit: must be a number from 1 to 1000' } }),
    401: { about: 'The credentials are not valid.', text: MANAGEMENT_REFUSALS.unauthorized.text },
    403: { about: 'The role of this member may not do this.', text: 'the role finance may not do this' },
    ...(path.includes('{') ? { 404: { about: 'Not found in this account.', text: 'database not found' } } : {}),
    429: { about: 'Failed sign-ins from this address.', text: tooManyFailures(30).text },
    503: {
      about: 'Not possible right now, or too many verifications or event streams are open.',
      text: 'server is busy, nothing was done',
    },
  }),
};
