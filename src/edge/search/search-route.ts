/**
 * How commands of the data plane are declared. A command about one index has `*index` in its path and needs a name. Any
 * other is about all of them; a name in its path is ignored.
 */
import { type Route as HttpRoute, routesOf } from '../http/route.js';
import type { SearchCall } from './search-call.js';

/** A command with the permission `read` may be used with the read-only token. */
export type SearchRoute = HttpRoute<SearchCall, 'read' | 'write'>;
export const route = routesOf<SearchCall, 'read' | 'write'>();
