/** Schemas of a message's story, by their names in the OpenAPI document. */
import { MESSAGE_STATES } from '../../../ports/index.js';
import {
  FLAG,
  INSTANT,
  type JsonSchema,
  listOf,
  record,
  schemaNamed,
  TEXT,
  WHOLE,
  wordOf,
} from '../../http/openapi/parts.js';
import { recordSchema } from '../../http/openapi/record-schema.js';
import { RESPONSE, RESPONSE_EXTRAS } from '../../records/record-schemas.js';
import { ATTEMPT_OUTCOMES, type attemptsOf } from './story-record.js';

const STATE = wordOf(MESSAGE_STATES);
const RETRIED = { retried: { ...WHOLE, description: 'Retries before it.' } };

export const STORY_SCHEMAS = {
  MessageStory: record(
    {
      messageId: TEXT,
      state: STATE,
      isUnderWay: FLAG,
      message: schemaNamed('Message'),
      events: listOf(record({ time: INSTANT, state: STATE }, { nextDeliveryTime: INSTANT, error: TEXT })),
      attempts: listOf(schemaNamed('Attempt')),
      callbacks: listOf(schemaNamed('CallbackMessage')),
    },
    {
      callbackOf: { ...TEXT, description: 'The message whose outcome it tells.' },
      nextDeliveryTime: INSTANT,
      dlq: record({ dlqId: TEXT, failedAt: INSTANT, ...RESPONSE }, { ...RESPONSE_EXTRAS, error: TEXT }),
      cursor: { ...TEXT, description: 'Of /v2/logs, where there are more events.' },
    },
  ),
  Attempt: recordSchema<ReturnType<typeof attemptsOf>[number]>(
    { ...RETRIED, startedAt: INSTANT },
    {
      endedAt: INSTANT,
      outcome: wordOf(ATTEMPT_OUTCOMES),
      error: TEXT,
      nextDeliveryTime: { ...INSTANT, description: 'When the next one is due: milliseconds since 1970.' },
      duration: { ...WHOLE, description: 'Milliseconds from the request to the answer.' },
      ...RESPONSE,
      ...RESPONSE_EXTRAS,
    },
  ),
  CallbackMessage: record({
    messageId: TEXT,
    kind: wordOf(['callback', 'failureCallback']),
    ...RETRIED,
    url: TEXT,
    createdAt: INSTANT,
    state: STATE,
  }),
} satisfies Readonly<Record<string, JsonSchema>>;
