/** Publishing one message, as it is described: the handler in front carries it out. */
import { json } from '../../http/answer-shape.js';
import { headerParameter, type JsonSchema, schemaNamed } from '../../http/openapi/parts.js';
import { type Described, described } from '../../http/route.js';

/** Those that most messages have; all are in docs/guide/message-settings.md. */
export const MESSAGE_SETTINGS = [
  'Svc-Method',
  'Svc-Delay',
  'Svc-Not-Before',
  'Svc-Retries',
  'Svc-Retry-Delay',
  'Svc-Timeout',
  'Svc-Callback',
  'Svc-Failure-Callback',
  'Svc-Header-Forward',
  'Svc-Flow-Control-Key',
  'Svc-Flow-Control-Value',
  'Svc-Deduplication-Id',
  'Svc-Content-Based-Deduplication',
  'Svc-Label',
].map(headerParameter);

/** An object for a URL, a list for a group. */
export const PUBLISHED: JsonSchema = {
  oneOf: [schemaNamed('Published'), { type: 'array', items: schemaNamed('Published') }],
};

export const PUBLISH_ROUTES: readonly Described[] = [
  described('POST /v2/publish/*destination', {
    summary: 'Publishes a message to a URL or a URL group.',
    permission: 'publish',
    parameters: MESSAGE_SETTINGS,
    answer: json(PUBLISHED),
  }),
  described('POST /v2/enqueue/:queue/*destination', {
    summary: 'Publishes a message by way of a queue.',
    permission: 'publish',
    parameters: MESSAGE_SETTINGS,
    answer: json(PUBLISHED),
  }),
];
