/**
 * Declares commands of the data plane. A command about one index has `*index` in its path and needs a name. Any other
 * is about all indexes; a name in its path is ignored.
 */
import { type Route as HttpRoute, routesOf } from '../http/route.js';
import type { SearchCall } from './search-call.js';

/** The read-only token may use commands with the permission `read`. */
export type SearchRoute = HttpRoute<SearchCall, 'read' | 'write'>;
export const route = routesOf<SearchCall, 'read' | 'write'>();
