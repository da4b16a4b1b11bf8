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
import type { Clock, Log, Statistics } from '../../ports/index.js';
import { MANAGEMENT_REFUSALS, managementRefusalOf, QUEUE_REFUSALS } from '../error-map.js';
import { discardBody, FaceRequest } from '../http/index.js';
import { Refused } from '../queue/refused.js';
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
  return (request, response) => {
    const target = request.url as string;
    if (!target.startsWith(ROOT)) return false;
    if (request instanceof FaceRequest) discardBody(request);
    scraped(parts, request, target)
      .then((text) => answer(parts, response, 200, text, { 'Content-Type': EXPOSITION_TYPE }))
      .catch((failure: unknown) => refuse(parts, response, failure));
    return true;
  };
}

/** @throws Refused; CONTROL_STALE; what the statistics throw */
async function scraped({ access, statistics, clock }: ScrapeHandlerParts, request: IncomingMessage, target: string) {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const scope = token === undefined ? undefined : access.scopeOf(token);
  if (scope === undefined) {
    throw new Refused(QUEUE_REFUSALS.unauthorized, { 'WWW-Authenticate': 'Bearer realm="monitoring"' });
  }
  const [path, ...rest] = target.split('?');
  if (path !== PATH) throw new Refused(MANAGEMENT_REFUSALS.routeNotFound);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Refused(MANAGEMENT_REFUSALS.methodNotAllowed, { Allow: 'GET, HEAD' });
  }
  const isWanted = wantedNames(new URLSearchParams(rest.join('?')).getAll('match[]'));
  const countedMs = clock.nowMs() - COUNTED_AFTER_MS;
  const scraped: Labelled[] = [];
  const { queue, databases } = scope;
  if (queue !== undefined) {
    const families = queueMetrics(await statistics.account(queue.id, '1h', countedMs), countedMs);
    scraped.push({ families, labels: { queue_id: uuidOf(queue.id), queue_name: queue.name } });
  }
  for (const { id, name } of databases) {
    const families = databaseMetrics(await statistics.database(id, '1h', countedMs), countedMs);
    scraped.push({ families, labels: { database_id: uuidOf(id), database_name: name } });
  }
  return expositionOf(merged(scraped).filter(({ name }) => isWanted(name)));
}

function refuse(parts: ScrapeHandlerParts, response: ServerResponse, failure: unknown): void {
  const { refusal, headers } = failure instanceof Refused ? failure : new Refused(managementRefusalOf(failure));
  const { status, text, retryAfterSeconds } = refusal;
  if (status === 500) parts.log.error('monitoring.request.failed', { error: describeError(failure) });
  answer(parts, response, status, JSON.stringify({ error: text }), {
    'Content-Type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    ...headers,
  });
}

function answer(
  { isDraining }: ScrapeHandlerParts,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(isDraining() ? { Connection: 'close' } : {}),
    ...headers,
  });
  response.end(text);
}
