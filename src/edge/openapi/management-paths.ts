/** The management API's part of the document, from the declarations of its routes. */

import { fieldsOf } from '../http/request-class.js';
import { type AnswerShape, changesAnything, Nothing, type Route } from '../management/route.js';
import {
  ERROR_SCHEMA,
  JSON_TYPE,
  type JsonSchema,
  jsonAnswer,
  type Operation,
  operationIdOf,
  type Parameter,
  type Paths,
  parametersIn,
} from './parts.js';
import { type Schemas, schemaOf } from './schemas.js';

export function managementPaths(routes: readonly Route[], schemas: Schemas): Paths {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    for (const pattern of route.paths) {
      const path = pattern.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] ??= {};
      for (const method of route.methods)
        (paths[path] as Record<string, Operation>)[method] = operationOf(route, method, path, schemas);
    }
  }
  return paths;
}

function operationOf(route: Route, method: string, path: string, schemas: Schemas): Operation {
  const isOpen = route.permission === 'open';
  return {
    operationId: operationIdOf(method, path),
    tags: ['management'],
    summary: route.summary,
    security: isOpen ? [{}] : [{ basic: [] }],
    parameters: [...parametersIn(path), ...queryParameters(route)],
    ...(route.body === Nothing ? {} : { requestBody: bodyOf(route, schemas) }),
    responses: {
      200: jsonAnswer('Done.', answerSchema(route.answer, schemas)),
      ...(isOpen ? {} : refusalsOf(route, path)),
      default: jsonAnswer('Refused, or not possible right now.', ERROR_SCHEMA),
    },
  };
}

function refusalsOf(route: Route, path: string) {
  const hasInput = route.body !== Nothing || route.query !== Nothing;
  return {
    ...(hasInput || changesAnything(route)
      ? { 400: jsonAnswer('A field is wrong; the text names it.', ERROR_SCHEMA) }
      : {}),
    401: jsonAnswer('The e-mail or the API key is wrong.', ERROR_SCHEMA),
    ...(changesAnything(route) ? { 403: jsonAnswer('The key or the role may not do this.', ERROR_SCHEMA) } : {}),
    ...(path.includes('{') ? { 404: jsonAnswer('There is no such thing in this account.', ERROR_SCHEMA) } : {}),
    429: jsonAnswer(
      'Too many calls with this key, or failed sign-ins from this address; `Retry-After` says when to come back.',
      ERROR_SCHEMA,
    ),
  };
}

function queryParameters({ query }: Route): Parameter[] {
  const { properties = {}, required = [] } = schemaOf(query) as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function bodyOf({ body }: Route, schemas: Schemas): NonNullable<Operation['requestBody']> {
  const { required = [] } = schemaOf(body) as { required?: readonly string[] };
  const isRequired = required.length > 0 && fieldsOf(body).length > 0;
  return { required: isRequired, content: { [JSON_TYPE]: { schema: schemas.referenceTo(body) } } };
}

function answerSchema(answer: AnswerShape, schemas: Schemas): JsonSchema {
  switch (answer.kind) {
    case 'ok':
      return { const: 'OK' };
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'object':
      return schemas.referenceTo(answer.of);
    case 'list':
      return { type: 'array', items: schemas.referenceTo(answer.of) };
  }
}
