/** The search part of the projection role: this process keeps the search indexes and answers questions to them. */
import type { DependencyContainer } from 'tsyringe';
import type { Check } from '../adapters/http-health/index.js';
import { shardNames } from '../adapters/nats/index.js';
import type { SearchQueries } from '../ports/index.js';
import { readinessOfSearch } from '../projections/index.js';
import { AskedSearch, askOverBus } from '../query/index.js';
import { inSeconds } from './runtime-parts.js';
import { SearchThread } from './search-thread.js';
import * as tokens from './tokens.js';

export interface SearchRole {
  readonly search: SearchQueries;
  start(): Promise<void>;
  /** For `/readyz`: ready once every index has what was stored at the start. */
  check(): Check;
  /** Makes every index anew, beside the one that answers. */
  rebuild(): void;
  stop(): Promise<void>;
}

const ENTRY = new URL('./search-worker.js', import.meta.url);
/** One try over the bus: a wait, a search and the way. */
const REMOTE_TRY_MS = 5000;

export function searchRole(c: DependencyContainer): SearchRole {
  const { search } = c.resolve(tokens.CONTROL);
  const config = c.resolve(tokens.CONFIG);
  const { metrics, bus } = tokens.portsOf(c);
  const layout = c.resolve(tokens.LAYOUT);
  const thread = new SearchThread({
    entry: ENTRY,
    task: {
      nats: c.resolve(tokens.WORLD).options,
      prefix: config.nats.natsPrefix,
      options: { kvShards: shardNames(layout).kv.length },
    },
    log: c.resolve(tokens.LOG),
    timers: c.resolve(tokens.TIMERS),
    *indexes() {
      for (const { id } of search.searchIndexes()) yield id;
    },
  });
  const ends: (() => void)[] = [];
  search.whenSearchIndexesChange(() => thread.indexesChanged());
  return {
    search: new AskedSearch((question) => thread.ask(question)),
    start: async () => {
      thread.start();
      const served = bus.serve({ kind: 'search' }, (question) => thread.ask(question));
      const gauges = [
        metrics.gauge('millrace_search_behind_positions', () => thread.status?.behindPositions),
        metrics.gauge('millrace_search_behind_seconds', () => inSeconds(thread.status?.behindMs)),
        metrics.gauge('millrace_search_documents', () =>
          thread.status?.isCaughtUp ? thread.status.documents : undefined,
        ),
      ];
      ends.push(() => served.stop(), ...gauges.map((gauge) => () => gauge.stop()));
    },
    check: () => readinessOfSearch(thread.status),
    rebuild: () => thread.rebuild(),
    stop: async () => {
      const [stopServing, ...others] = ends.splice(0);
      stopServing?.();
      await thread.stop();
      for (const end of others) end();
    },
  };
}

/** For a process without the role. */
export function remoteSearch(c: DependencyContainer): SearchQueries {
  return new AskedSearch(askOverBus(c.resolve(tokens.BUS), 'search', REMOTE_TRY_MS));
}
