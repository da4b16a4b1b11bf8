/** `/openapi.json`: the API's description for tools. It is open, because it contains no data of accounts. */

import { MANAGEMENT_REFUSALS, notFound } from '../error-map.js';
import { one } from '../http/answer-shape.js';
import type { ApiArea, Refusals } from '../http/openapi/area.js';
import { changesAnything, type Described, Nothing } from '../http/route.js';
import { MANAGEMENT_CLIENT, MANAGEMENT_KEY, SESSION_COOKIE } from '../sessions/session-schemes.js';
import { accessOf } from '../team-permissions.js';
import { type ManagementRoute, managementRoute } from './management-call.js';

/** An OpenAPI document, which describes itself. */
class OpenApi {}

/** @param routes of the management API. @param others further areas of the document */
export function openApiRoute(routes: readonly ManagementRoute[], others: readonly ApiArea[]): ManagementRoute {
  const self: ManagementRoute = managementRoute('GET /openapi.json', {
    summary: 'This document.',
    permission: 'open',
    answer: one(OpenApi),
    isConstant: true,
    async handle({ endpoint }) {
      const { publicUrls, version } = endpoint.parts;
      // Loaded on the first request, with its schema library.
      const { openApiDocument } = await import('../http/openapi/document.js');
      return openApiDocument([...others, managementArea([...routes, self])], publicUrls, version);
    },
  });
  return self;
}

/** The management API's area of the document. */
export function managementArea(routes: readonly ManagementRoute[]): ApiArea {
  return {
    name: 'management',
    description: 'Accounts, databases, search indexes, statistics.',
    routes,
    client: MANAGEMENT_CLIENT,
    access: accessOf,
    security: { managementKey: MANAGEMENT_KEY, sessionCookie: SESSION_COOKIE },
    refusals,
  };
}

function refusals(route: Described, path: string): Refusals {
  if (route.permission === 'open') return {};
  return {
    ...(route.body !== Nothing || route.query !== Nothing || changesAnything(route)
      ? { 400: { about: 'A field is wrong; the text names it.', text: 'database_name: is required' } }
      : {}),
    401: { about: 'The e-mail or the API key is wrong.', text: MANAGEMENT_REFUSALS.unauthorized.text },
    ...(changesAnything(route) && {
      403: { about: 'The key or the role may not do this.', text: MANAGEMENT_REFUSALS.readOnly.text },
    }),
    ...((path.includes('{') || changesAnything(route)) && {
      404: { about: 'Not found in this account.', text: notFound('database').text },
    }),
    ...(changesAnything(route) && {
      413: { about: 'The body is too long.', text: 'body is too large, current limit: 65536 bytes' },
    }),
    429: {
      about: 'Too many calls with this key, or failed sign-ins from this address.',
      text: MANAGEMENT_REFUSALS.tooManyCalls.text,
    },
    503: {
      about: 'Not possible right now; the text says whether anything was done.',
      text: 'server is busy, nothing was done',
    },
  };
}
