/** What the OpenAPI document says of the management API as a whole. */
import type { Area } from '../http/openapi/area.js';
import { changesAnything, Nothing } from '../http/route.js';
import type { ManagementRoute } from './management-call.js';

export function managementArea(routes: readonly ManagementRoute[]): Area {
  return {
    name: 'management',
    description: 'Accounts, databases, search indexes, statistics.',
    routes,
    security: [{ basic: [] }],
    refusals: (route, path) => ({
      ...(route.body !== Nothing || route.query !== Nothing || changesAnything(route)
        ? { 400: 'A field is wrong; the text names it.' }
        : {}),
      401: 'The e-mail or the API key is wrong.',
      ...(changesAnything(route) ? { 403: 'The key or the role may not do this.' } : {}),
      ...(path.includes('{') ? { 404: 'There is no such thing in this account.' } : {}),
      429: 'Too many calls with this key, or failed sign-ins from this address; `Retry-After` says when to come back.',
    }),
  };
}
