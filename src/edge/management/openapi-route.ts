/** `/openapi.json`: what this server can be asked, for tools. Anybody may read it; it says nothing about anyone. */
import { one } from '../http/answer-shape.js';
import type { ApiArea } from '../http/openapi/area.js';
import { type OpenApiDocument, openApiDocument } from '../http/openapi/document.js';
import { changesAnything, Nothing } from '../http/route.js';
import { type ManagementRoute, managementRoute } from './management-call.js';

/** An object in the language of OpenAPI, which describes itself. */
class OpenApi {}

/** @param routes of the management API. @param others that the document describes beside them */
export function openApiRoute(routes: readonly ManagementRoute[], others: readonly ApiArea[]): ManagementRoute {
  let document: OpenApiDocument | undefined;
  const self = managementRoute('GET /openapi.json', {
    summary: 'This document.',
    permission: 'open',
    answer: one(OpenApi),
    async handle({ face }) {
      const { publicUrls, version } = face.parts;
      document ??= openApiDocument([...others, managementArea([...routes, self])], publicUrls, version);
      return document;
    },
  });
  return self;
}

/** What the document says of the management API as a whole. */
export function managementArea(routes: readonly ManagementRoute[]): ApiArea {
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
