/** The OpenAPI description of publishing; the handler does the work. */
import { json } from '../../http/answer-shape.js';
import { anyBody } from '../../http/body-shape.js';
import { type JsonSchema, listOf, pathParameter, schemaNamed } from '../../http/openapi/parts.js';
import { type Described, described } from '../../http/route.js';
import { MESSAGE_HEADERS, OTHER_HEADERS } from '../setting-headers.js';

const DESTINATION = pathParameter(
  'destination',
  'A URL, as written or completely percent-encoded, or the name of a URL group.',
);
const MESSAGE = anyBody('The body of the message, delivered unchanged.');

/** An object for a URL, a list for a group. */
export const PUBLISHED: JsonSchema = { oneOf: [schemaNamed('Published'), listOf(schemaNamed('Published'))] };

export const PUBLISHED_EXAMPLE = { messageId: 'msg_26hZCxZCuWyyTWPmSVBrNC', url: 'https://example.com/hooks' };

export const PUBLISH_ROUTES: readonly Described[] = [
  described('POST /v2/publish/*destination', {
    summary: 'Publishes a message to a URL or a URL group.',
    permission: 'publish',
    description: OTHER_HEADERS,
    parameters: [DESTINATION, ...MESSAGE_HEADERS],
    bodyShape: MESSAGE,
    example: { hello: 'world' },
    statuses: [200, 202],
    answer: json(PUBLISHED, '202: the message is a duplicate and was not accepted again.', PUBLISHED_EXAMPLE),
  }),
  described('POST /v2/enqueue/:queue/*destination', {
    summary: 'Publishes a message by way of a queue.',
    permission: 'publish',
    description: OTHER_HEADERS,
    parameters: [DESTINATION, ...MESSAGE_HEADERS],
    bodyShape: MESSAGE,
    example: { hello: 'world' },
    statuses: [200, 202],
    answer: json(PUBLISHED, '202: the message is a duplicate and was not accepted again.', PUBLISHED_EXAMPLE),
  }),
];
