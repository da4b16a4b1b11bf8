/**
 * The scrape endpoint of a database or an account, for whoever has the port: `GET /monitoring/prometheus/federate` with
 * `Authorization: Bearer <monitoring token>`. The token alone says whose numbers are shown; they are never anybody
 * else's.
 *
 * Order of judgement: token (401), path (404), method (405), what is asked (400).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../../kernel/index.js';
import type { Clock, Log, Statistics } from '../../ports/index.js';
import { isStranger, managementRefusalOf, QUEUE_REFUSALS } from '../error-map.js';
import { type Exchange, write, writeRefusal } from '../http/answer.js';
import { bearerToken } from '../http/credentials.js';
import { ClientAddresses, discardBody, isLongBody, type ProxyRange } from '../http/index.js';
import { Refused } from '../http/refused.js';
import { RouteTable } from '../http/route-table.js';
import { signedIn } from '../http/signing-in.js';
import { staleHeader } from '../http/stale-header.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { EXPOSITION_TYPE } from './exposition.js';
import { MONITORING_ROUTES, type Scraped } from './monitoring-routes.js';
import type { ScrapeGrants, ScrapeScope } from './scrape-grants.js';

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

/** @returns false, and has done nothing, for the path of something else. Requests are those of a face server */
export type ScrapeHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

const ROOT = '/monitoring/';
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

const TABLE = new RouteTable(MONITORING_ROUTES);

export function createScrapeHandler(parts: ScrapeHandlerParts): ScrapeHandler {
  const addresses = new ClientAddresses(parts.trustedProxies ?? []);
  return (request, response) => {
    const target = request.url as string;
    if (!target.startsWith(ROOT)) return false;
    answer(parts, addresses, { request, response }, target).catch((failure: unknown) =>
      refuse(parts, { request, response }, failure),
    );
    return true;
  };
}

/** @throws Refused; CONTROL_STALE; what the statistics throw */
async function answer(
  parts: ScrapeHandlerParts,
  addresses: ClientAddresses,
  { request, response }: Exchange,
  target: string,
): Promise<void> {
  const scope = scopeOf(parts, addresses, request);
  discardBody(request);
  const [path = '', ...rest] = target.split('?');
  const { route, path: named } = TABLE.find(request.method as string, path);
  const query = new URLSearchParams(rest.join('?'));
  const call = { scope, query, statistics: parts.statistics, clock: parts.clock };
  const { text, behind } = (await route.handle(call, { path: named, query: {}, body: {} })) as Scraped;
  const headers = { ...HEADERS, ...staleHeader({ behind }) };
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
  throw new Refused(QUEUE_REFUSALS.unauthorized, { 'WWW-Authenticate': 'Bearer realm="monitoring"' });
}

function refuse(parts: ScrapeHandlerParts, exchange: Exchange, failure: unknown): void {
  const refused = failure instanceof Refused ? failure : new Refused(managementRefusalOf(failure));
  const { refusal } = refused;
  if (refusal.status === 500) parts.log.error('monitoring.request.failed', { error: describeError(failure) });
  const leavesBody = isStranger(refusal) && isLongBody(exchange.request);
  writeRefusal(exchange, refused, { headers: HEADERS, isLast: parts.isDraining(), leavesBody });
}
