/** What the OpenAPI document says of the queue and of workflows as a whole. */
import { QUEUE_REFUSALS } from '../error-map.js';
import { anyBody } from '../http/body-shape.js';
import type { ApiArea, Refusals } from '../http/openapi/area.js';
import { pathParameter } from '../http/openapi/parts.js';
import { type Described, described } from '../http/route.js';
import { DONE_ANSWER, QUEUE_SCHEMAS } from './answer-schemas.js';
import { QUEUE_FACE_ROUTES } from './routes/index.js';
import { PUBLISH_ROUTES } from './routes/publish.js';

/** The handler in front takes it by any method, without a token: the path has the account. */
const HOOK_ROUTES: readonly Described[] = [
  described('POST /v2/workflows/hooks/:user/:run/*event', {
    summary: 'Takes the call of a third party to a webhook that a run waits for.',
    description: 'By any method; the run is told method, headers, query and body.',
    permission: 'open',
    bodyShape: anyBody('What the run is told of.'),
    example: { paid: true },
    parameters: [pathParameter('user', 'Whose run it is: part of the URL that the run has made.')],
    answer: DONE_ANSWER,
  }),
];

const OF_HOOKS: Refusals = {
  403: { about: 'The account is suspended.', text: QUEUE_REFUSALS.suspended.text },
  404: { about: 'There is no such webhook, or its run is over.', text: QUEUE_REFUSALS.hookNotFound.text },
};

export const QUEUE_AREA: ApiArea = {
  name: 'queue',
  description: 'Messages delivered over HTTP, and workflows.',
  isAt: 'queue',
  routes: [...PUBLISH_ROUTES, ...QUEUE_FACE_ROUTES, ...HOOK_ROUTES],
  security: {
    queueToken: { type: 'http', scheme: 'bearer', description: 'A token of the queue.' },
    queueTokenInQuery: { type: 'apiKey', in: 'query', name: 'msgq_token', description: 'The same, in the query.' },
  },
  refusals,
  schemas: QUEUE_SCHEMAS,
};

function refusals(route: Described, path: string): Refusals {
  const isAsked = route.parameters.length > 0 || route.bodyShape !== undefined;
  return {
    ...(route.permission === 'open' ? OF_HOOKS : ofTokens(route, path)),
    ...(isAsked && { 400: { about: 'Something is wrong; the text names it.', text: 'unknown parameter colour' } }),
    ...(route.permission === 'publish' && {
      412: {
        about: 'A bound of the account is reached. To an endpoint in the middle of a run: what is a 400 else.',
        text: 'too many endpoints',
      },
    }),
    ...(route.bodyShape !== undefined && {
      413: { about: 'The body is too long.', text: 'body is too large, current limit: 1048576 bytes' },
    }),
    429: {
      about: 'A bound of a second or a day is reached; `RateLimit-*` says more of the day. Or failed sign-ins.',
      text: QUEUE_REFUSALS.burst.text,
    },
    503: {
      about: 'Not possible right now; the text says whether anything happened.',
      text: 'server is busy, nothing was done',
    },
  };
}

function ofTokens({ permission }: Described, path: string): Refusals {
  return {
    401: { about: 'The token is missing or wrong.', text: QUEUE_REFUSALS.unauthorized.text },
    ...(permission !== 'read' && {
      403: { about: 'The token may only look, or the account is suspended.', text: QUEUE_REFUSALS.readOnly.text },
    }),
    ...(path.includes('{') && { 404: { about: 'There is no such thing.', text: 'message msg_1 not found' } }),
  };
}
