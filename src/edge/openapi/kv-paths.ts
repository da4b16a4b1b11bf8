/** The key-value face's part of the document. Source: docs/commands.md and docs/guide/kv-rest.md. */
import {
  type Answered,
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

/** Results nest as replies of commands do; 3.1 has no shorter word for any JSON value. */
const RESULT: JsonSchema = {
  type: 'object',
  properties: { result: { type: ['null', 'integer', 'number', 'string', 'array', 'object', 'boolean'] } },
  required: ['result'],
};
const COMMAND: JsonSchema = {
  type: 'array',
  items: { type: ['string', 'number', 'boolean', 'null', 'object', 'array'] },
  minItems: 1,
};
const COMMANDS: JsonSchema = { type: 'array', items: COMMAND };
const ONE_ANSWER: JsonSchema = { oneOf: [RESULT, ERROR_SCHEMA] };
const ANSWERS: JsonSchema = { type: 'array', items: ONE_ANSWER };
const EVENTS: Answered = {
  description: 'Events, as they happen.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

const ENCODING: Parameter = {
  name: 'Svc-Encoding',
  in: 'header',
  required: false,
  schema: { enum: ['base64'] },
  description: 'Strings of the answer are encoded, but the OK status.',
};
const FORMAT: Parameter = {
  name: 'Svc-Response-Format',
  in: 'header',
  required: false,
  schema: { enum: ['json', 'resp2'] },
  description: 'resp2 answers in bytes of that protocol.',
};

export function kvPaths(): Paths {
  return {
    '/': { post: operation('post', '/', 'Runs one command.', { 200: jsonAnswer('Its result.', RESULT) }, COMMAND) },
    // Path parameters cannot hold slashes: this stands for any number of arguments behind the command.
    '/{command}/{arguments}': Object.fromEntries(
      ['get', 'head', 'put', 'post'].map((method) => [
        method,
        operation(method, '/{command}/{arguments}', 'Runs one command; a body is its last argument.', {
          200: jsonAnswer('Its result.', RESULT),
        }),
      ]),
    ),
    '/pipeline': {
      post: operation(
        'post',
        '/pipeline',
        'Runs commands in order.',
        { 200: jsonAnswer('One for each.', ANSWERS) },
        COMMANDS,
      ),
    },
    '/multi-exec': {
      post: operation(
        'post',
        '/multi-exec',
        'Runs commands as one.',
        { 200: jsonAnswer('One for each, or why none was run.', { oneOf: [ANSWERS, ERROR_SCHEMA] }) },
        COMMANDS,
      ),
    },
    '/monitor': { post: operation('post', '/monitor', 'Shows every command that is run.', { 200: EVENTS }) },
    '/subscribe/{channel}': {
      post: operation('post', '/subscribe/{channel}', 'Shows messages of a channel.', { 200: EVENTS }),
    },
    '/publish/{channel}/{message}': {
      post: operation('post', '/publish/{channel}/{message}', 'Sends a message to a channel.', {
        200: jsonAnswer('How many heard it.', RESULT),
      }),
    },
  };
}

function operation(
  method: string,
  path: string,
  summary: string,
  responses: Operation['responses'],
  body?: JsonSchema,
): Operation {
  return {
    operationId: `kv_${operationIdOf(method, path)}`,
    tags: ['kv'],
    summary,
    security: [{ bearer: [] }, { kvTokenInQuery: [] }],
    parameters: [...parametersIn(path), ENCODING, FORMAT],
    ...(body === undefined ? {} : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: body } } } }),
    responses: {
      ...responses,
      400: jsonAnswer('The command is wrong, or failed.', ERROR_SCHEMA),
      401: jsonAnswer('The token is missing or wrong.', ERROR_SCHEMA),
      default: jsonAnswer('Refused, or not possible right now.', ERROR_SCHEMA),
    },
  };
}
