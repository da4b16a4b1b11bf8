/** Paths of the document, from the declarations of an area's routes. */
import type { AnswerShape } from '../answer-shape.js';
import { fieldsOf } from '../request-class.js';
import { type Described, Nothing } from '../route.js';
import type { ApiArea } from './area.js';
import {
  type Answered,
  type ApiOperation,
  type ApiParameter,
  ERROR_SCHEMA,
  JSON_TYPE,
  type JsonSchema,
  jsonAnswer,
  operationIdOf,
  type Paths,
  parametersIn,
} from './parts.js';
import { type Schemas, schemaOf } from './schemas.js';

export function pathsOf(area: ApiArea, schemas: Schemas): Paths {
  const paths: Record<string, Record<string, ApiOperation>> = {};
  for (const route of area.routes) {
    for (const pattern of route.paths) {
      const path = pattern.replaceAll(/[:*](\w+)\??/g, '{$1}');
      paths[path] ??= {};
      for (const method of route.methods)
        (paths[path] as Record<string, ApiOperation>)[method] = operationOf(area, route, method, path, schemas);
    }
  }
  return paths;
}

function operationOf(area: ApiArea, route: Described, method: string, path: string, schemas: Schemas): ApiOperation {
  const { name, prefix = '', security, success = '200', parameters = [], error = ERROR_SCHEMA } = area;
  const isOpen = route.permission === 'open';
  const refusals = isOpen ? {} : area.refusals(route, path);
  const body = bodyOf(area, route, schemas);
  return {
    operationId: prefix + operationIdOf(method, path),
    tags: [name],
    summary: route.summary,
    security: isOpen ? [{}] : security,
    parameters: [...parametersIn(path), ...queryParameters(route), ...route.parameters, ...parameters],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      [success]: answered(area, route.answer, schemas),
      ...Object.fromEntries(Object.entries(refusals).map(([status, text]) => [status, jsonAnswer(text, error)])),
      default: jsonAnswer('Refused, or not possible right now.', error),
    },
  };
}

function queryParameters({ query }: Described): ApiParameter[] {
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

function bodyOf(
  { needsBody }: ApiArea,
  { body, bodySchema }: Described,
  schemas: Schemas,
): ApiOperation['requestBody'] {
  if (bodySchema === undefined && body === Nothing) return undefined;
  const { required = [] } = schemaOf(body) as { required?: readonly string[] };
  return {
    required: needsBody ?? (required.length > 0 && fieldsOf(body).length > 0),
    content: { [JSON_TYPE]: { schema: bodySchema ?? schemas.referenceTo(body) } },
  };
}

function answered({ wrapped = (schema) => schema }: ApiArea, answer: AnswerShape, schemas: Schemas): Answered {
  if (answer.kind === 'other') {
    return { description: answer.description, content: { [answer.type]: { schema: { type: 'string' } } } };
  }
  const description = answer.kind === 'json' ? answer.description : undefined;
  return jsonAnswer(description ?? 'Done.', wrapped(answerSchema(answer, schemas)));
}

function answerSchema(answer: Exclude<AnswerShape, { kind: 'other' }>, schemas: Schemas): JsonSchema {
  switch (answer.kind) {
    case 'ok':
      return { const: 'OK' };
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'object':
      return schemas.referenceTo(answer.of);
    case 'list':
      return { type: 'array', items: schemas.referenceTo(answer.of) };
    case 'json':
      return answer.of;
  }
}
