/** `/v2/workflows/hooks`: third parties call a URL that a run gave them, and the run is notified. */
import { anyBody } from '../../http/body-shape.js';
import { pathParameter } from '../../http/openapi/parts.js';
import { DONE_ANSWER } from '../answer-schemas.js';
import { type QueueRoute, queueRoute } from '../queue-call.js';
import { hookIn, notifyOfHook } from '../workflow-hooks.js';

/** Any method is taken, and no token is needed: the path names the account. */
export const HOOK_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/workflows/hooks/:user/:run/*event', {
    summary: 'Takes the call of a third party to a webhook that a run waits for.',
    description: 'By any method; the run receives method, headers, query and body.',
    permission: 'open',
    bodyBound: 'message',
    bodyShape: anyBody('The event of the run.'),
    example: { paid: true },
    parameters: [pathParameter('user', 'The user in the webhook URL that the run created.')],
    answer: DONE_ANSWER,
    handle: (call) => notifyOfHook(call, hookIn(call.path)),
  }),
];
