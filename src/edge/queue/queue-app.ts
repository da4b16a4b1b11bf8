/**
 * All calls of the queue but the frequent ones (hot-calls.ts), on Koa: refusals, credentials, limits, routes.
 *
 * Order of checks: token, rate limit, route (404, 405), rights, body, configuration.
 */
import { assert } from '../../kernel/index.js';
import { QUEUE_REFUSALS } from '../error-map.js';
import { inOrder, type PipelineContext, readsBody, type Stage } from '../http/application.js';
import { EndpointRequest, RequestBodyReader } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { routed } from '../http/routing.js';
import { refuseRevoked } from './applications/application-in.js';
import { PORTAL_ROOT } from './applications/portal-page.js';
import { splitTarget } from './destination.js';
import type { CallExchange, QueueCall, QueueRoute } from './queue-call.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { admitted, callOf, failEarly, isAt, noteRun } from './received-call.js';
import { BATCH_ROUTE } from './routes/batch.js';
import { PORTAL_ROUTES, ROUTED } from './routes/index.js';

const LANGUAGE_MODELS = '/llm/';

interface State {
  call: QueueCall;
  maxBodyBytes: number;
}

/** Webhooks are open, and take any method. */
const ROUTING = {
  allowsLastSlash: true,
  ignoresCase: true,
  answersHead: true,
  takesAnyMethod: ({ permission }: QueueRoute) => permission === 'open',
};

export function createQueueApp(endpoint: QueueEndpoint): Stage {
  const calls = [checks(endpoint), limits(endpoint), routerOf(endpoint)];
  const stages = inOrder<State>([refuses(endpoint), pages(endpoint), ...calls]);
  return (context, next) => stages(context as PipelineContext<State>, next);
}

/** A call writes its own refusals: they depend on its spelling, and on the run that sends it. */
function refuses(endpoint: QueueEndpoint): Stage<State> {
  return async (context, next) => {
    try {
      await next();
    } catch (failure) {
      const { call } = context.state as Partial<State>;
      if (call === undefined) failEarly(endpoint, exchangeOf(context), failure);
      else await call.fail(failure);
    }
  };
}

/** The page of the portal is open: its calls have the token of the link. @throws Refused 404, 405 */
function pages({ portal }: QueueEndpoint): Stage<State> {
  return (context, next) => {
    const { path } = context;
    return path === PORTAL_ROOT || path.startsWith(`${PORTAL_ROOT}/`) ? portal.serves(context, next) : next();
  };
}

/** @throws Refused 401, 403, 404, 405, 429; CONTROL_STALE */
function checks(endpoint: QueueEndpoint): Stage<State> {
  return (context, next) => {
    const call = callOf(endpoint, exchangeOf(context));
    context.state.call = call;
    if (call.path.startsWith(LANGUAGE_MODELS)) throw new RefusedRequest(QUEUE_REFUSALS.noLanguageModels);
    noteRun(call);
    return next();
  };
}

/** Publishing counts against the day, and a run would fail because of other callers. @throws Refused 429 */
function limits({ bursts }: QueueEndpoint): Stage<State> {
  return ({ state: { call } }, next) => {
    const { account, terms } = call.grant;
    const { maxRequestsPerSecond } = terms.limits;
    const isBound = !call.isByEndpoint && !isAt(BATCH_ROUTE.paths[0], call.path);
    if (isBound && !bursts.take(account, maxRequestsPerSecond)) {
      throw new RefusedRequest(QUEUE_REFUSALS.burst, bursts.headers(maxRequestsPerSecond));
    }
    return next();
  };
}

function routerOf(endpoint: QueueEndpoint): Stage<State> {
  const bound = {
    bodies: new RequestBodyReader(endpoint.budget),
    tenantOf: ({ state }: PipelineContext<State>) => state.call.grant.account,
    limitBytesOf: ({ state }: PipelineContext<State>) => state.maxBodyBytes,
  };
  const usual: Stage<State> = readsBody(bound);
  const ofHooks: Stage<State> = readsBody({ ...bound, isOfAnyMethod: true });
  return routed<QueueRoute, State>(ROUTED, ROUTING, async (context, route, path) => {
    const { state } = context;
    const { call } = state;
    const { portal } = call.grant;
    if (portal !== undefined && !(PORTAL_ROUTES.has(route) && path.id === portal.application)) {
      throw new RefusedRequest(QUEUE_REFUSALS.notOfPortal);
    }
    state.maxBodyBytes = admitted(call, route);
    const body = route.permission === 'open' ? ofHooks : usual;
    await body(context, async () => {
      if (state.body !== undefined) call.body = state.body;
      if (portal !== undefined) await refuseRevoked(call, portal);
      await route.handle(call, { path, query: {}, body: {} });
    });
  });
}

function exchangeOf(context: PipelineContext<State>): CallExchange {
  const { req: request, res: response, state } = context;
  assert(request instanceof EndpointRequest, 'a request that no server of ours has received');
  return { request, response, target: splitTarget(context.url), context, passed: state.passed };
}
