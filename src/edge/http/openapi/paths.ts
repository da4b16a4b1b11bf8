/** The paths of the document, from an area's route declarations. */
import type { AnswerShape } from '../answer-shape.js';
import { fieldsOf } from '../request-class.js';
import { type Described, type Method, Nothing } from '../route.js';
import type { ApiArea } from './area.js';
import { codeSamples, type SampleLanguage } from './code-samples.js';
import {
  type Answered,
  type ApiOperation,
  type ApiParameter,
  ERROR_SCHEMA,
  JSON_TYPE,
  type JsonSchema,
  jsonAnswer,
  type MediaType,
  operationIdOf,
  type Paths,
  parametersIn,
  RETRY_AFTER,
} from './parts.js';
import { sampleCall } from './sample-call.js';
import { type Schemas, schemaOf } from './schemas.js';
import type { SharedAnswers } from './shared-answers.js';

/** After these statuses a client may retry. */
const PASSING: ReadonlySet<string> = new Set(['429', '503']);

/** The place of an operation, and its pattern in the declaration. */
interface PatternPath {
  readonly method: Method;
  readonly path: string;
  readonly pattern: string;
}

/** Schemas and answers that the operations reference, collected on the way. */
export interface DescribedParts {
  readonly schemas: Schemas;
  readonly answers: SharedAnswers;
  readonly languages: readonly SampleLanguage[];
}

export function pathsOf(area: ApiArea, gathered: DescribedParts): Paths {
  const paths: Record<string, Record<string, ApiOperation>> = {};
  for (const route of area.routes) {
    for (const pattern of route.paths) {
      const path = pattern.replaceAll(/[:*](\w+)\??/g, '{$1}');
      paths[path] ??= {};
      for (const method of route.methods) {
        (paths[path] as Record<string, ApiOperation>)[method] = operationOf(
          area,
          route,
          { method, path, pattern },
          gathered,
        );
      }
    }
  }
  return paths;
}

function operationOf(area: ApiArea, route: Described, place: PatternPath, gathered: DescribedParts): ApiOperation {
  const { name, prefix = '', security, parameters = [] } = area;
  const isOpen = route.permission === 'open';
  const body = bodyOf(area, route, gathered.schemas);
  const { description = '', calledAs } = route;
  const { method, path } = place;
  const all = [...pathParameters(route, place), ...queryParameters(route), ...othersOf(route), ...parameters];
  const operation = { method, path, parameters: all, ...(body !== undefined && { requestBody: body }) };
  return {
    operationId: prefix + operationIdOf(place.method, place.path),
    tags: [name],
    summary: route.summary,
    description: `${description}\n\n${area.access(route)}`.trim(),
    security: isOpen ? [{}] : Object.keys(security).map((scheme) => ({ [scheme]: [] })),
    parameters: all,
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responsesOf(area, route, place, gathered),
    'x-permission': route.permission,
    ...(calledAs !== undefined && { 'x-calledAt': calledAs }),
    'x-codeSamples': codeSamples(sampleCall(area.client, route, operation), gathered.languages),
  };
}

function responsesOf(
  area: ApiArea,
  route: Described,
  { path }: PatternPath,
  { schemas, answers }: DescribedParts,
): ApiOperation['responses'] {
  const { name, error = ERROR_SCHEMA } = area;
  const refusals = area.refusals(route, path);
  const { statuses = [200] } = route;
  const success = answered(area, route.answer, schemas);
  return {
    ...Object.fromEntries(statuses.map((status) => [status, success])),
    ...Object.fromEntries(
      Object.entries(refusals).map(([status, { about, text }]) => {
        const answer = jsonAnswer(about, error, exampleOf(error, text, status));
        const whole = PASSING.has(status) ? { ...answer, ...RETRY_AFTER } : answer;
        return [status, answers.referenceTo(`${name}_${status}`, whole)];
      }),
    ),
    default: answers.referenceTo(`${name}_refused`, jsonAnswer('Refused, or not possible right now.', error)),
  };
}

/** Some areas repeat the status in the body. */
function exampleOf(error: JsonSchema, text: string, status: string): object {
  const { status: hasStatus } = (error.properties ?? {}) as Record<string, unknown>;
  return hasStatus === undefined ? { error: text } : { error: text, status: Number(status) };
}

/** A parameter that the route describes replaces the one from its pattern. */
function pathParameters(route: Described, { pattern }: PatternPath): readonly ApiParameter[] {
  return parametersIn(pattern).map(
    (one) => route.parameters.find(({ in: at, name }) => at === 'path' && name === one.name) ?? one,
  );
}

function othersOf({ parameters }: Described): readonly ApiParameter[] {
  return parameters.filter(({ in: at }) => at !== 'path');
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
  { body, bodyShape, example }: Described,
  schemas: Schemas,
): ApiOperation['requestBody'] {
  const isShown = example === undefined ? {} : { example };
  if (bodyShape !== undefined) {
    const { of, isNeeded = needsBody ?? true, types = [JSON_TYPE], description } = bodyShape;
    const media = (type: string): MediaType => ({ schema: of, ...(type === JSON_TYPE && isShown) });
    const content = Object.fromEntries(types.map((type) => [type, media(type)]));
    return { ...(description !== undefined && { description }), required: isNeeded, content };
  }
  if (body === Nothing) return undefined;
  const { required = [] } = schemaOf(body) as { required?: readonly string[] };
  return {
    required: needsBody ?? (required.length > 0 && fieldsOf(body).length > 0),
    content: { [JSON_TYPE]: { schema: schemas.referenceTo(body), ...isShown } },
  };
}

function answered({ wrapped = (schema) => schema }: ApiArea, answer: AnswerShape, schemas: Schemas): Answered {
  if (answer.kind === 'other') {
    const { type, description, events } = answer;
    const told = events === undefined ? {} : { 'x-events': events };
    return { description, content: { [type]: { schema: { type: 'string' }, ...told } } };
  }
  const { description = 'Done.', example } = answer.kind === 'json' ? answer : {};
  return jsonAnswer(description, wrapped(answerSchema(answer, schemas)), example);
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
