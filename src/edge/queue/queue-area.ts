/** The OpenAPI descriptions of the queue and of workflows. */
import { QUEUE_REFUSALS } from '../error-map.js';
import type { ApiArea, Refusals } from '../http/openapi/area.js';
import type { Described } from '../http/route.js';
import { QUEUE_SCHEMAS } from './answer-schemas.js';
import { ROUTED } from './routes/index.js';
import { PUBLISH_ROUTES } from './routes/publish.js';

const OF_HOOKS: Refusals = {
  403: { about: 'The account is suspended.', text: QUEUE_REFUSALS.suspended.text },
  404: { about: 'There is no such webhook, or its run is over.', text: QUEUE_REFUSALS.hookNotFound.text },
};

export const QUEUE_AREA: ApiArea = {
  name: 'queue',
  description: 'Messages delivered over HTTP, and workflows.',
  isAt: 'queue',
  client: { url: 'MILLRACE_QUEUE_URL', token: 'MILLRACE_QUEUE_TOKEN' },
  access: ({ permission }) => {
    if (permission === 'open') return 'Needs no token: the ids in the address are the secret.';
    return `Needs a token of the account. A read-only token ${permission === 'read' ? 'is sufficient' : 'is refused'}.`;
  },
  routes: [...PUBLISH_ROUTES, ...ROUTED],
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
    ...(isAsked && {
      400: { about: 'The request is not valid; the text says why.', text: 'unknown parameter colour' },
    }),
    ...(route.permission === 'publish' && {
      412: {
        about: 'A limit of the account is reached. To the endpoint of a run, also every error that is a 400 elsewhere.',
        text: 'too many endpoints',
      },
    }),
    ...(route.bodyShape !== undefined && {
      413: { about: 'The body is too long.', text: 'body is too large, current limit: 1048576 bytes' },
    }),
    429: {
      about:
        'A limit per second or per day is reached (`RateLimit-*` shows the limit per day), or too many failed sign-ins.',
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
      403: { about: 'The token is read-only, or the account is suspended.', text: QUEUE_REFUSALS.readOnly.text },
    }),
    ...(path.includes('{') && { 404: { about: 'Not found.', text: 'message msg_1 not found' } }),
  };
}
