/** Schemas of JSON bodies for the OpenAPI document; the classes in requests/ validate them. */
import { MAX_BATCH_ITEMS, MAX_QUEUE_NAME_CHARACTERS, MAX_URL_BYTES } from '../../domain/queue/index.js';
import type { BodyShape } from '../http/body-shape.js';
import {
  FLAG,
  HEADERS_GIVEN,
  type JsonSchema,
  listOf,
  record,
  schemaNamed,
  TEXT,
  WHOLE,
} from '../http/openapi/parts.js';
import { HEADER_MEMBERS } from './setting-headers.js';

const NAME: JsonSchema = { ...TEXT, minLength: 1, maxLength: MAX_QUEUE_NAME_CHARACTERS };
const URL_TEXT: JsonSchema = { ...TEXT, maxLength: MAX_URL_BYTES };
const COUNT: JsonSchema = { ...WHOLE, minimum: 1 };
const STEP = record({ stepId: WHOLE, stepName: TEXT, stepType: TEXT }, { targetStep: WHOLE, concurrent: COUNT });

/** Named schemas of the document. */
export const BODY_SCHEMAS = {
  MessageToPublish: record(
    { destination: { ...URL_TEXT, description: 'A URL, or the name of a URL group.' } },
    {
      body: { ...TEXT, description: 'Left out: empty.' },
      headers: HEADER_MEMBERS,
      queue: { ...NAME, description: 'The queue that it goes through.' },
      callback: { ...URL_TEXT, description: 'As Svc-Callback, which counts before it.' },
    },
  ),
  Wait: record(
    { url: { ...URL_TEXT, description: 'Where the result of the step is delivered.' }, step: STEP },
    {
      timeout: { oneOf: [TEXT, WHOLE], description: 'A duration, or seconds; left out: 7d.' },
      timeoutUrl: { ...URL_TEXT, description: 'Where it is delivered when the time is over; left out: there, too.' },
      timeoutBody: TEXT,
      timeoutHeaders: { ...HEADERS_GIVEN, description: 'Left out: those of the request.' },
    },
  ),
} satisfies Readonly<Record<string, JsonSchema>>;

export const SET_QUEUE: BodyShape = {
  of: record(
    { queueName: NAME },
    { parallelism: { ...COUNT, description: 'Left out: 1.' }, paused: { ...FLAG, description: 'Left out: false.' } },
  ),
};
export const GROUP_DEFAULTS: BodyShape = { of: record({ headers: HEADER_MEMBERS }) };
export const NEW_ENDPOINTS: BodyShape = { of: endpoints(record({ url: URL_TEXT }, { name: NAME })) };
/** Each endpoint has a URL or a name. */
export const OLD_ENDPOINTS: BodyShape = { of: endpoints(record({}, { url: URL_TEXT, name: NAME })) };
export const MESSAGES: BodyShape = {
  of: { ...listOf(schemaNamed('MessageToPublish')), minItems: 1, maxItems: MAX_BATCH_ITEMS },
};
/** Needed and optional members of a rerun. */
export const RERUN_MEMBERS = [
  {
    fromStep: {
      oneOf: [WHOLE, TEXT],
      description: 'The number of the step to execute, 0 for the payload, or its name.',
    },
  },
  {
    input: { description: 'The payload of the new run: a text, or a value that is sent as JSON. Left out: as before.' },
    stepResult: { description: 'The result of the step, which is then not executed.' },
    url: { ...URL_TEXT, description: 'The endpoint of the new run. Left out: as before.' },
  },
] as const;
/** Needed and optional members of a check of an endpoint. */
export const CHECK_MEMBERS = [
  {
    url: { ...URL_TEXT, description: 'The endpoint to check. Without a path: with the path of each run.' },
  },
  {
    executeSteps: { ...FLAG, description: 'True: the endpoint executes the code of steps. Left out: false.' },
  },
] as const;
export const WAIT: BodyShape = { of: schemaNamed('Wait') };

function endpoints(one: JsonSchema): JsonSchema {
  return record({ endpoints: { ...listOf(one), minItems: 1 } });
}
