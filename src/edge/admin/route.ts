/** How routes of the operators' API are declared. Each answers by its call. */
import { type Route as HttpRoute, routesOf } from '../http/route.js';
import type { Permission } from '../team-permissions.js';
import type { AdminCall } from './admin-call.js';

/** The permission is the caller's, in the account of the key. */
export type Route = HttpRoute<AdminCall, Permission>;
export const route = routesOf<AdminCall, Permission>();
