/** `/openapi.json`: what this server can be asked, for tools. Anybody may read it; it says nothing about anyone. */
import { one } from '../http/answer-shape.js';
import type { Area } from '../http/openapi/area.js';
import { type OpenApiDocument, openApiDocument } from '../http/openapi/document.js';
import { managementArea } from './management-area.js';
import { type ManagementRoute, managementRoute } from './management-call.js';

/** An object in the language of OpenAPI, which describes itself. */
class OpenApi {}

/** @param routes of the management API. @param others that the document describes beside them */
export function openApiRoute(routes: readonly ManagementRoute[], others: readonly Area[]): ManagementRoute {
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
