/**
 * The scrape endpoint of a database or an account, for whoever has the port: `GET /monitoring/prometheus/federate` with
 * `Authorization: Bearer <monitoring token>`. The token alone says whose numbers are shown; they are never anybody
 * else's.
 *
 * Order of judgement: token (401), path (404), method (405), what is asked (400).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../../kernel/index.js';
import { uuidOf } from '../../messages/index.js';
import type { Behind, Clock, Log, Statistics } from '../../ports/index.js';
import { isStranger, MANAGEMENT_REFUSALS, managementRefusalOf, QUEUE_REFUSALS } from '../error-map.js';
import { answerUnread, ClientAddresses, discardBody, isLongBody, type ProxyRange } from '../http/index.js';
import { Refused } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { furthest, staleHeader } from '../http/stale-header.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { databaseMetrics } from './database-metrics.js';
import { EXPOSITION_TYPE, expositionOf, type Labelled, merged } from './exposition.js';
import { wantedNames } from './metric-names.js';
import { queueMetrics } from './queue-metrics.js';
import type { ScrapeGrants } from './scrape-grants.js';

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
const PATH = '/monitoring/prometheus/federate';
const BEARER = /^bearer +(\S+) *$/i;
/** The meter's counts are written out once a second and folded a moment later: a minute is whole so long after its end. */
const COUNTED_AFTER_MS = 5_000;

export function createScrapeHandler(parts: ScrapeHandlerParts): ScrapeHandler {
  const addresses = new ClientAddresses(parts.trustedProxies ?? []);
  return (request, response) => {
    const target = request.url as string;
    if (!target.startsWith(ROOT)) return false;
    scraped(parts, addresses, request, target)
      .then(({ text, behind }) =>
        answer(parts, response, 200, text, { 'Content-Type': EXPOSITION_TYPE, ...staleHeader({ behind }) }),
      )
      .catch((failure: unknown) => refuse(parts, request, response, failure));
    return true;
  };
}

/** @throws Refused; CONTROL_STALE; what the statistics throw */
async function scraped(
  parts: ScrapeHandlerParts,
  addresses: ClientAddresses,
  request: IncomingMessage,
  target: string,
) {
  const { access, statistics, clock, signIns = UNGUARDED } = parts;
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const scope =
    token === undefined
      ? undefined
      : signedIn({ signIns, address: () => addresses.of(request), secret: token }, () => access.scopeOf(token));
  if (scope === undefined) {
    throw new Refused(QUEUE_REFUSALS.unauthorized, { 'WWW-Authenticate': 'Bearer realm="monitoring"' });
  }
  discardBody(request);
  const [path, ...rest] = target.split('?');
  if (path !== PATH) throw new Refused(MANAGEMENT_REFUSALS.routeNotFound);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Refused(MANAGEMENT_REFUSALS.methodNotAllowed, { Allow: 'GET, HEAD' });
  }
  const isWanted = wantedNames(new URLSearchParams(rest.join('?')).getAll('match[]'));
  const countedMs = clock.nowMs() - COUNTED_AFTER_MS;
  const scraped: Labelled[] = [];
  let behind: Behind | undefined;
  const { queue, databases } = scope;
  if (queue !== undefined) {
    const series = await statistics.account(queue.id, '1h', countedMs);
    behind = furthest(behind, series.behind);
    const families = queueMetrics(series, countedMs);
    scraped.push({ families, labels: { queue_id: uuidOf(queue.id), queue_name: queue.name } });
  }
  for (const { id, name } of databases) {
    const series = await statistics.database(id, '1h', countedMs);
    behind = furthest(behind, series.behind);
    const families = databaseMetrics(series, countedMs);
    scraped.push({ families, labels: { database_id: uuidOf(id), database_name: name } });
  }
  return { text: expositionOf(merged(scraped).filter(({ name }) => isWanted(name))), behind };
}

function refuse(parts: ScrapeHandlerParts, request: IncomingMessage, response: ServerResponse, failure: unknown): void {
  const { refusal, headers } = failure instanceof Refused ? failure : new Refused(managementRefusalOf(failure));
  const { status, text, retryAfterSeconds } = refusal;
  if (status === 500) parts.log.error('monitoring.request.failed', { error: describeError(failure) });
  const leavesBody = isStranger(refusal) && isLongBody(request);
  if (!leavesBody) discardBody(request);
  const end = leavesBody ? (body: string) => answerUnread(request, response, body) : undefined;
  const all = {
    'Content-Type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    ...headers,
    ...(leavesBody ? { Connection: 'close' } : {}),
  };
  answer(parts, response, status, JSON.stringify({ error: text }), all, end);
}

function answer(
  { isDraining }: ScrapeHandlerParts,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
  end: (body: string) => void = (body) => void response.end(body),
): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(isDraining() ? { Connection: 'close' } : {}),
    ...headers,
  });
  end(text);
}
