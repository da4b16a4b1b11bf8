/** `/v2/publish` and `/v2/enqueue`: one message to a URL or a URL group, or a step of a run. */
import { nameProblem } from '../../../domain/queue/index.js';
import { SHARED_REFUSALS } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { anyBody } from '../../http/body-shape.js';
import { type JsonSchema, listOf, pathParameter, schemaNamed } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { described } from '../../http/route.js';
import { rawSettingsOf } from '../call-words.js';
import { decoded, destinationInPath } from '../destination.js';
import { publishedJson, publishedStatus, warningHeaders } from '../publish-answer.js';
import type { RequestedMessage } from '../publish-items.js';
import type { BegunCall, HotRoute, QueueCall } from '../queue-call.js';
import { AROUND_BODY_BYTES, CHARACTERS_A_BYTE } from '../queue-limits.js';
import { runHeadersOf } from '../run-headers.js';
import { hasLargeRecord, withRecord } from '../run-records.js';
import { MESSAGE_HEADERS, OTHER_HEADERS } from '../setting-headers.js';
import { publishItems } from '../trial-requests.js';
import { askedItem } from '../workflow-items.js';

const PUBLISH = '/v2/publish/';
const ENQUEUE = '/v2/enqueue/';

const DESTINATION = pathParameter(
  'destination',
  'A URL, as written or completely percent-encoded, or the name of a URL group.',
);
const MESSAGE = anyBody('The body of the message, delivered unchanged.');

/** An object for a URL, a list for a group. */
export const PUBLISHED: JsonSchema = { oneOf: [schemaNamed('Published'), listOf(schemaNamed('Published'))] };

export const PUBLISHED_EXAMPLE = { messageId: 'msg_26hZCxZCuWyyTWPmSVBrNC', url: 'https://example.com/hooks' };

export const PUBLISH_ROUTES: readonly HotRoute[] = [
  {
    ...described('POST /v2/publish/*destination', {
      summary: 'Publishes a message to a URL or a URL group.',
      permission: 'publish',
      description: OTHER_HEADERS,
      parameters: [DESTINATION, ...MESSAGE_HEADERS],
      bodyShape: MESSAGE,
      example: { hello: 'world' },
      statuses: [200, 202],
      answer: json(PUBLISHED, '202: the message is a duplicate and was not accepted again.', PUBLISHED_EXAMPLE),
    }),
    begin: (call) => begun(call, undefined, call.path.slice(PUBLISH.length)),
  },
  {
    ...described('POST /v2/enqueue/:queue/*destination', {
      summary: 'Publishes a message by way of a queue.',
      permission: 'publish',
      description: OTHER_HEADERS,
      parameters: [DESTINATION, ...MESSAGE_HEADERS],
      bodyShape: MESSAGE,
      example: { hello: 'world' },
      statuses: [200, 202],
      answer: json(PUBLISHED, '202: the message is a duplicate and was not accepted again.', PUBLISHED_EXAMPLE),
    }),
    begin(call) {
      const rest = call.path.slice(ENQUEUE.length);
      const slash = rest.indexOf('/');
      const queueName = decoded(slash < 0 ? rest : rest.slice(0, slash));
      const problem = nameProblem('queue name', queueName);
      if (problem !== undefined) throw invalid(problem);
      return begun(call, queueName, slash < 0 ? '' : rest.slice(slash + 1));
    },
  },
];

/** @param rest of the path: the destination, as it was written. @throws Refused 400, 403, 405 */
function begun(call: QueueCall, queueName: string | undefined, rest: string): BegunCall {
  const { words, grant, request, endpoint } = call;
  if (request.method !== 'POST') throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: 'POST' });
  call.mustBeAllowedToPublish();
  const destination = destinationInPath(rest, words.rest);
  const raw = rawSettingsOf(words, destination.kind === 'group');
  const of = queueName === undefined ? 'publish' : 'enqueue';
  const asked = { destination, raw, of, queueName, isAlias: words.isAlias } as const;
  const run = runHeadersOf(words.configuration);
  if (run !== undefined) call.isOfRun = !run.isTrigger || run.isInvoke;
  call.runOfStep = run === undefined || run.isTrigger ? undefined : run.runId;
  const { maxMessageBytes } = grant.terms.limits;
  const most = run?.isInvoke === true ? maxMessageBytes * CHARACTERS_A_BYTE + AROUND_BODY_BYTES : maxMessageBytes;
  const take = (body: Buffer): Promise<void> => {
    const whole = { ...asked, body };
    if (!hasLargeRecord(whole)) return publish(call, whole);
    return withRecord(endpoint, whole).then((read) => publish(call, read));
  };
  return { maxBodyBytes: Math.min(most, endpoint.parts.limits.maxBodyBytes), take };
}

async function publish(call: QueueCall, asked: RequestedMessage): Promise<void> {
  const item = askedItem(call, asked);
  const { results, daily } = await publishItems(call, [item]);
  const [result] = results as [(typeof results)[number]];
  call.json(publishedStatus(result), publishedJson(result), warningHeaders(daily));
}
