/** `/openapi.json`: what this server can be asked, for tools. Anybody may read it; it says nothing about anyone. */
import { one, type Route, route } from '../management/route.js';
import { type OpenApiDocument, openApiDocument } from './document.js';

/** An object in the language of OpenAPI, which describes itself. */
class OpenApi {}

/** @param routes of the management API, which the document describes beside the other two areas */
export function openApiRoute(routes: readonly Route[]): Route {
  let document: OpenApiDocument | undefined;
  const self = route('GET /openapi.json', {
    summary: 'This document.',
    permission: 'open',
    answer: one(OpenApi),
    async handle({ face }) {
      const { publicUrls, version } = face.parts;
      document ??= openApiDocument([...routes, self], publicUrls, version);
      return document;
    },
  });
  return self;
}
