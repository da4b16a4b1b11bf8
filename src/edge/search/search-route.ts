/**
 * How commands of the data plane are declared. One about an index has `*index` in its path, and needs a name; any other
 * is about all of them, and a name is ignored.
 */
import { type Route as HttpRoute, routesOf } from '../http/route.js';
import type { SearchCall } from './search-call.js';

/** The read-only token may `read`. */
export type SearchRoute = HttpRoute<SearchCall, 'read' | 'write'>;
export const route = routesOf<SearchCall, 'read' | 'write'>();
