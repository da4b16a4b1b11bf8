/**
 * The scrape endpoint of a database or an account, for whoever has the port: `GET /monitoring/prometheus/federate` with
 * `Authorization: Bearer <monitoring token>`. The token alone says whose numbers are shown; they are never anybody
 * else's.
 *
 * Order of judgement: token (401), path (404), method (405), what is asked (400).
 */
import type { IncomingMessage } from 'node:http';
import type { Clock, Log, Statistics } from '../../ports/index.js';
import { managementRefusalOf, QUEUE_REFUSALS } from '../error-map.js';
import { type HttpExchange, PRIVATE_HEADERS, write } from '../http/answer.js';
import { bearerToken } from '../http/credentials.js';
import { ClientAddresses, discardBody, type ProxyRange } from '../http/index.js';
import { type Mounted, mounted } from '../http/mounted.js';
import { RefusedRequest } from '../http/refused.js';
import { RouteTable } from '../http/route-table.js';
import { signedIn } from '../http/signing-in.js';
import { staleHeader } from '../http/stale-header.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { EXPOSITION_TYPE } from './exposition.js';
import type { ScrapeGrants, ScrapeScope } from './scrape-grants.js';
import { SCRAPE_ROUTES, type Scraped } from './scrape-routes.js';

export interface ScrapeHandlerParts {
  readonly access: Pick<ScrapeGrants, 'scopeOf'>;
  readonly statistics: Statistics;
  readonly clock: Clock;
  readonly log: Log;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  readonly isDraining: () => boolean;
}

const TABLE = new RouteTable(SCRAPE_ROUTES);

export function createScrapeHandler(parts: ScrapeHandlerParts): Mounted {
  const addresses = new ClientAddresses(parts.trustedProxies ?? []);
  return mounted({
    name: 'monitoring',
    root: '/monitoring/',
    log: parts.log,
    isDraining: parts.isDraining,
    answer: (exchange, path, query) => answer(parts, addresses, exchange, path, query),
    wording: managementRefusalOf,
  });
}

/** @throws Refused; CONTROL_STALE; what the statistics throw */
async function answer(
  parts: ScrapeHandlerParts,
  addresses: ClientAddresses,
  { request, response }: HttpExchange,
  path: string,
  query: URLSearchParams,
): Promise<void> {
  const scope = scopeOf(parts, addresses, request);
  discardBody(request);
  const { route, path: named } = TABLE.find(request, path);
  const call = { scope, query, statistics: parts.statistics, clock: parts.clock };
  const { text, behind } = (await route.handle(call, { path: named, query: {}, body: {} })) as Scraped;
  const headers = { ...PRIVATE_HEADERS, ...staleHeader({ behind }) };
  write(response, { status: 200, text, type: EXPOSITION_TYPE, headers, isLast: parts.isDraining() });
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
