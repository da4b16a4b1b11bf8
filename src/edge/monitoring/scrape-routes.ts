/** The answer of the scrape endpoint: metrics in the scope of a monitoring token. */
import type { Behind, Clock, MaybeBehind, Statistics } from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';
import { tooManyFailures } from '../error-map.js';
import type { ApiArea } from '../http/openapi/area.js';
import { queryParameter } from '../http/openapi/parts.js';
import { invalid } from '../http/refused.js';
import { type Route, routesOf } from '../http/route.js';
import { furthest } from '../http/stale-header.js';
import { EXPOSITION_TYPE, expositionOf, type Labelled, merged } from './exposition.js';
import { databaseMetrics, queueMetrics } from './metrics.js';
import type { ScrapeScope } from './scrape-grants.js';

/**
 * Selects the metrics of a scrape: `match[]`, repeated, each a name, `{__name__="name"}`, or a prefix,
 * `{__name__=~"millrace_kv_.*"}`. Default: all. Label selectors are not supported, because a token shows only one
 * database or account.
 */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SELECTOR = /^\{\s*__name__\s*(=~?)\s*"([a-zA-Z0-9_:]*)(\.[*+])?"\s*,?\s*\}$/;
/** More are a mistake. */
const MAX_MATCHES = 100;

/** @throws Refused 400 */
function wantedNames(matches: readonly string[]): (name: string) => boolean {
  if (matches.length === 0) return () => true;
  if (matches.length > MAX_MATCHES) throw invalid(`match[]: may be given at most ${MAX_MATCHES} times`);
  const all = matches.map(wanted);
  return (name) => all.some((isWanted) => isWanted(name));
}

function wanted(match: string): (name: string) => boolean {
  const text = match.trim();
  if (NAME.test(text)) return (name) => name === text;
  const [, operator, stem = '', rest] = SELECTOR.exec(text) ?? [];
  if (operator === undefined || (operator === '=' && rest !== undefined)) {
    throw invalid('match[]: must be the name of a metric, or {__name__="name"}, or {__name__=~"beginning.*"}');
  }
  if (rest === undefined) return (name) => name === stem;
  return (name) => name.startsWith(stem) && (rest === '.*' || name.length > stem.length);
}

export interface ScrapeCall {
  readonly scope: ScrapeScope;
  readonly query: URLSearchParams;
  readonly statistics: Statistics;
  readonly clock: Clock;
}

export interface Scraped extends MaybeBehind {
  readonly text: string;
}

/**
 * A minute is complete this long after its end: the meter writes its counts once per second, and they are folded soon
 * after.
 */
const COUNTED_AFTER_MS = 5_000;

const route = routesOf<ScrapeCall, 'read'>();

export const SCRAPE_ROUTES: readonly Route<ScrapeCall, 'read'>[] = [
  route('GET /monitoring/prometheus/federate', {
    alsoMethods: ['head'],
    summary: 'Shows metrics of a database, or of an account with its databases, to scrapers.',
    permission: 'read',
    parameters: [queryParameter('match[]', 'Names of metrics, or how they begin; any number of times.')],
    answer: { kind: 'other', type: EXPOSITION_TYPE, description: 'Metrics, a line each.' },
    handle: scraped,
  }),
];

/** @throws Refused 400; errors of the statistics */
async function scraped({ scope, query, statistics, clock }: ScrapeCall): Promise<Scraped> {
  const isWanted = wantedNames(query.getAll('match[]'));
  const countedMs = clock.nowMs() - COUNTED_AFTER_MS;
  const things: Labelled[] = [];
  let behind: Behind | undefined;
  const { queue, databases } = scope;
  if (queue !== undefined) {
    const series = await statistics.account(queue.id, '1h', countedMs);
    behind = furthest(behind, series.behind);
    const families = queueMetrics(series, countedMs);
    things.push({ families, labels: { queue_id: uuidOf(queue.id), queue_name: queue.name } });
  }
  for (const { id, name } of databases) {
    const series = await statistics.database(id, '1h', countedMs);
    behind = furthest(behind, series.behind);
    const families = databaseMetrics(series, countedMs);
    things.push({ families, labels: { database_id: uuidOf(id), database_name: name } });
  }
  return { text: expositionOf(merged(things).filter(({ name }) => isWanted(name))), behind };
}

/** The scrape endpoint's area of the OpenAPI document. */
export const MONITORING_AREA: ApiArea = {
  name: 'monitoring',
  description: 'Metrics for scrapers, which have separate tokens.',
  routes: SCRAPE_ROUTES,
  client: { url: 'MILLRACE_MGMT_URL', token: 'MONITORING_TOKEN' },
  access: () => 'Needs a monitoring token, which `POST /v2/kv/enable-prometheus/{id}` creates for a database.',
  security: {
    monitoringToken: { type: 'http', scheme: 'bearer', description: 'The token that enable-prometheus returned.' },
  },
  refusals: () => ({
    400: { about: 'A selector is wrong.', text: 'match[]: is not a selector' },
    401: { about: 'The token is missing or wrong.', text: 'unable to authenticate: invalid token' },
    429: { about: 'Failed sign-ins from this address.', text: tooManyFailures(30).text },
  }),
};
