/**
 * The OpenAPI area of the REST endpoint, which has its own routing of commands. Source: docs/commands.md and
 * docs/guide/data.md.
 */
import { type AnswerShape, events, json } from '../http/answer-shape.js';
import type { BodyShape } from '../http/body-shape.js';
import type { ApiArea } from '../http/openapi/area.js';
import { ERROR_SCHEMA, type JsonSchema, pathParameter } from '../http/openapi/parts.js';
import { described } from '../http/route.js';

/** Results nest like replies; OpenAPI 3.1 has no shorter form for any JSON value. */
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
const ANSWERS: JsonSchema = { type: 'array', items: { oneOf: [RESULT, ERROR_SCHEMA] } };
const SEVERAL = [
  ['SET', 'greeting', 'hello', 'EX', 60],
  ['INCR', 'visits'],
];
const TWO_RESULTS = [{ result: 'OK' }, { result: 1 }];

const permission = 'token';
const LAST_ARGUMENT: BodyShape = {
  of: {},
  isNeeded: false,
  types: ['application/octet-stream'],
  description: 'The last argument, byte for byte.',
};
const COMMAND_NAME = pathParameter('command', 'Its name, in any case.');
const OPTIONS = 'Names and values of the query are further arguments, after the body.';
const answered = json(RESULT, 'Its result.', { result: 'hello' });
const stream: AnswerShape = events('Events, as they happen.');

export const KV_AREA: ApiArea = {
  name: 'kv',
  description: 'Key-value commands over HTTP: any command of docs/commands.md, with a token of its database.',
  isAt: 'kv',
  client: { url: 'MILLRACE_KV_URL', token: 'MILLRACE_KV_TOKEN' },
  access: () => 'Needs a token of the database. With a read-only token, commands that write are refused.',
  prefix: 'kv_',
  security: {
    databaseToken: { type: 'http', scheme: 'bearer', description: 'A token of the database.' },
    databaseTokenInQuery: { type: 'apiKey', in: 'query', name: '_token', description: 'The same, in the query.' },
  },
  parameters: [
    {
      name: 'Svc-Encoding',
      in: 'header',
      required: false,
      schema: { type: 'string', enum: ['base64'] },
      description: 'Strings of the answer are encoded, but the OK status.',
    },
    {
      name: 'Svc-Response-Format',
      in: 'header',
      required: false,
      schema: { type: 'string', enum: ['json', 'resp2'] },
      description: 'resp2 answers in bytes of that protocol.',
    },
  ],
  refusals: () => ({
    400: {
      about: 'The command is wrong, or failed.',
      text: 'WRONGTYPE Operation against a key holding the wrong kind of value',
    },
    401: { about: 'The token is missing or wrong.', text: 'WRONGPASS invalid or missing auth token' },
    403: {
      about: 'The database is suspended, or not open to this address.',
      text: 'NOPERM this database is suspended, nothing was executed',
    },
    413: {
      about: 'The body is larger than any request may be.',
      text: 'ERR max request size exceeded. Limit: 10485760 bytes, Actual: 10485761 bytes',
    },
    429: {
      about: 'Too many commands a second, or failed sign-ins from this address.',
      text: 'ERR max commands per second exceeded, nothing was executed',
    },
    503: {
      about: 'Not possible right now; the text says whether anything was executed.',
      text: 'ERR server is busy, nothing was executed',
    },
  }),
  routes: [
    described('POST /', {
      summary: 'Runs one command.',
      permission,
      bodyShape: { of: COMMAND },
      example: ['SET', 'greeting', 'hello', 'EX', 60],
      answer: json(RESULT, 'Its result.', { result: 'OK' }),
    }),
    described('GET /:command', {
      alsoMethods: ['head'],
      summary: 'Runs a command without arguments.',
      description: OPTIONS,
      permission,
      parameters: [COMMAND_NAME],
      sample: { path: { command: 'ping' } },
      answer: json(RESULT, 'Its result.', { result: 'PONG' }),
    }),
    described('POST /:command', {
      alsoMethods: ['put'],
      summary: 'Runs a command with the body as an argument.',
      description: OPTIONS,
      permission,
      parameters: [COMMAND_NAME],
      sample: { path: { command: 'echo' } },
      bodyShape: LAST_ARGUMENT,
      answer: answered,
    }),
    described('GET /:command/:arguments', {
      alsoMethods: ['head'],
      summary: 'Runs one command.',
      description: OPTIONS,
      permission,
      parameters: [COMMAND_NAME, argumentsIn()],
      answer: answered,
    }),
    described('POST /:command/:arguments', {
      alsoMethods: ['put'],
      summary: 'Runs one command; a body is its last argument.',
      description: OPTIONS,
      permission,
      parameters: [COMMAND_NAME, argumentsIn()],
      sample: { path: { command: 'set' } },
      bodyShape: LAST_ARGUMENT,
      answer: json(RESULT, 'Its result.', { result: 'OK' }),
    }),
    described('POST /pipeline', {
      summary: 'Runs commands in order.',
      permission,
      bodyShape: { of: COMMANDS },
      example: SEVERAL,
      answer: json(ANSWERS, 'One for each.', TWO_RESULTS),
    }),
    described('POST /multi-exec', {
      summary: 'Runs commands as one.',
      permission,
      bodyShape: { of: COMMANDS },
      example: SEVERAL,
      answer: json({ oneOf: [ANSWERS, ERROR_SCHEMA] }, 'One for each, or why none was run.', TWO_RESULTS),
    }),
    described('POST /monitor', {
      summary: 'Shows every command that is run.',
      permission,
      answer: stream,
    }),
    described('POST /subscribe/:channel', {
      summary: 'Shows messages of a channel.',
      permission,
      answer: stream,
    }),
    described('POST /psubscribe/:pattern', {
      summary: 'Shows messages of all channels that a pattern fits.',
      permission,
      answer: stream,
    }),
    described('POST /publish/:channel/:message', {
      summary: 'Sends a message to a channel.',
      permission,
      answer: json(RESULT, 'How many heard it.', { result: 1 }),
    }),
  ],
};

function argumentsIn() {
  return pathParameter('arguments', 'One argument, percent-encoded; further ones follow, each after a slash.');
}
