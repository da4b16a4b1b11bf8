/**
 * The scrape endpoint of a database or account: `GET /monitoring/prometheus/federate` with `Authorization: Bearer
 * <monitoring token>`. The token alone selects the data.
 *
 * Order of checks: token (401), path (404), method (405), parameters (400).
 */
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { Clock, Log, Statistics } from '../../ports/index.js';
import { managementRefusalOf, QUEUE_REFUSALS } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { answer } from '../http/application.js';
import { bearerToken } from '../http/credentials.js';
import { ClientAddresses, discardBody, type ProxyRange } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { routed } from '../http/routing.js';
import { signedIn } from '../http/signing-in.js';
import { staleHeader } from '../http/stale-header.js';
import { subHandler } from '../http/sub-handler.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { EXPOSITION_TYPE } from './exposition.js';
import type { ScrapeGrants, ScrapeScope } from './scrape-grants.js';
import { SCRAPE_ROUTES, type Scraped } from './scrape-routes.js';

type Route = (typeof SCRAPE_ROUTES)[number];

export interface ScrapeHandlerParts {
  readonly access: Pick<ScrapeGrants, 'scopeOf'>;
  readonly statistics: Statistics;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: failed sign-ins are neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  readonly isDraining: () => boolean;
}

export function createScrapeHandler(parts: ScrapeHandlerParts): Middleware {
  const addresses = new ClientAddresses(parts.trustedProxies ?? []);
  const { clock, log, statistics, isDraining } = parts;
  const router = routed<Route, { scope: ScrapeScope }>(SCRAPE_ROUTES, {}, async (context, route, path) => {
    const query = new URLSearchParams(context.querystring);
    const call = { scope: context.state.scope, query, statistics, clock };
    const { text, behind } = (await route.handle(call, { path, query: {}, body: {} })) as Scraped;
    const headers = { ...PRIVATE_HEADERS, ...staleHeader({ behind }) };
    answer(context, { status: 200, text, type: EXPOSITION_TYPE, headers, isLast: isDraining() });
  });
  return subHandler<{ scope: ScrapeScope }>({
    name: 'monitoring',
    root: '/monitoring/',
    log,
    isDraining,
    answer: async (context, next) => {
      context.state.scope = scopeOf(parts, addresses, context.req);
      discardBody(context.req);
      await router(context, next);
    },
    wording: managementRefusalOf,
  });
}

/** @throws Refused 401, 429; CONTROL_STALE */
function scopeOf(
  { access, signIns = UNGUARDED }: ScrapeHandlerParts,
  addresses: ClientAddresses,
  request: IncomingMessage,
): ScrapeScope {
  const token = bearerToken(request.headers.authorization);
  const scope =
    token === undefined
      ? undefined
      : signedIn({ signIns, address: () => addresses.of(request), secret: token }, () => access.scopeOf(token));
  if (scope !== undefined) return scope;
  throw new RefusedRequest(QUEUE_REFUSALS.unauthorized, { 'WWW-Authenticate': 'Bearer realm="monitoring"' });
}
