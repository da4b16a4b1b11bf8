/** How routes of the management API are declared. */
import { type Route as HttpRoute, routesOf } from '../http/route.js';
import type { Permission } from '../team-permissions.js';
import type { ManagementCall } from './management-call.js';

export { listOf, OK, OK_ANSWER, one, TEXTS } from '../http/answer-shape.js';
export type { Method } from '../http/route.js';

/** The permission is the caller's, in the account of the key. */
export type Route = HttpRoute<ManagementCall, Permission>;
export const route = routesOf<ManagementCall, Permission>();
