/**
 * What the key-value face is asked, for the document; its handler finds the way of a command by itself. Source:
 * docs/commands.md and docs/guide/kv-rest.md.
 */
import { events, json } from '../http/answer-shape.js';
import type { ApiArea } from '../http/openapi/area.js';
import { ERROR_SCHEMA, type JsonSchema } from '../http/openapi/parts.js';
import { described } from '../http/route.js';

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
const ANSWERS: JsonSchema = { type: 'array', items: { oneOf: [RESULT, ERROR_SCHEMA] } };

const permission = 'token';

export const KV_AREA: ApiArea = {
  name: 'kv',
  description: 'Key-value commands over HTTP.',
  isAt: 'kv',
  prefix: 'kv_',
  security: [{ bearer: [] }, { kvTokenInQuery: [] }],
  needsBody: true,
  parameters: [
    {
      name: 'Svc-Encoding',
      in: 'header',
      required: false,
      schema: { enum: ['base64'] },
      description: 'Strings of the answer are encoded, but the OK status.',
    },
    {
      name: 'Svc-Response-Format',
      in: 'header',
      required: false,
      schema: { enum: ['json', 'resp2'] },
      description: 'resp2 answers in bytes of that protocol.',
    },
  ],
  refusals: () => ({ 400: 'The command is wrong, or failed.', 401: 'The token is missing or wrong.' }),
  routes: [
    described('POST /', {
      summary: 'Runs one command.',
      permission,
      bodySchema: COMMAND,
      answer: json(RESULT, 'Its result.'),
    }),
    // Path parameters cannot hold slashes: this stands for any number of arguments behind the command.
    described('GET /:command/:arguments', {
      alsoMethods: ['head', 'put', 'post'],
      summary: 'Runs one command; a body is its last argument.',
      permission,
      answer: json(RESULT, 'Its result.'),
    }),
    described('POST /pipeline', {
      summary: 'Runs commands in order.',
      permission,
      bodySchema: COMMANDS,
      answer: json(ANSWERS, 'One for each.'),
    }),
    described('POST /multi-exec', {
      summary: 'Runs commands as one.',
      permission,
      bodySchema: COMMANDS,
      answer: json({ oneOf: [ANSWERS, ERROR_SCHEMA] }, 'One for each, or why none was run.'),
    }),
    described('POST /monitor', {
      summary: 'Shows every command that is run.',
      permission,
      answer: events('Events, as they happen.'),
    }),
    described('POST /subscribe/:channel', {
      summary: 'Shows messages of a channel.',
      permission,
      answer: events('Events, as they happen.'),
    }),
    described('POST /publish/:channel/:message', {
      summary: 'Sends a message to a channel.',
      permission,
      answer: json(RESULT, 'How many heard it.'),
    }),
  ],
};
