/** The search indexes, kept and queried in a thread of a process with the role `projection`. */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import { AnsweringThread } from '../adapters/node/index.js';
import { SEARCH_WORKER, watchSearch } from '../projections/index.js';
import { askOverBus, SearchClient } from '../query/index.js';
import { threadTaskOf } from './thread-container.js';
import * as tokens from './tokens.js';

/** A process without the role asks other processes. */
export function registerRemoteSearch(c: DependencyContainer): void {
  c.registerInstance(tokens.SEARCH, new SearchClient(askOverBus(c.resolve(tokens.BUS), 'search')));
}

export function registerSearch(c: DependencyContainer): void {
  tokens.once(c, tokens.SEARCH_THREAD, () => {
    const { timers, log } = tokens.storagePortsOf(c);
    const entry = new URL('./search-worker.js', import.meta.url);
    const { embeddings, storage } = c.resolve(tokens.CONFIG);
    const precision = embeddings.vectorPrecision;
    const options = { kvShards: c.resolve(tokens.NATS).layout.kvShards, fold: { precision } };
    const key = c.resolve(tokens.DATA_KEY).key?.keyFor('indexes');
    const task = { ...threadTaskOf(c), options, graphs: { directory: join(storage.dataDir, 'graphs'), key } };
    return new AnsweringThread({ entry, task, log, timers, onBegun: () => tellIndexes(c) }, SEARCH_WORKER);
  });
  c.registerInstance(tokens.SEARCH, new SearchClient((question) => c.resolve(tokens.SEARCH_THREAD).ask(question)));
}

/** Sends a thread all indexes at its start and after each change. Without indexes it is not started. */
function tellIndexes(c: DependencyContainer): void {
  const thread = c.resolve(tokens.SEARCH_THREAD);
  const indexes = Array.from(c.resolve(tokens.CONTROL).search.searchIndexes(), ({ id, vectors }) => ({ id, vectors }));
  if (indexes.length > 0 || !thread.isResting) thread.tell({ kind: 'indexes', indexes });
}

export async function startSearch(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  const { metrics, bus } = tokens.portsOf(c);
  const thread = c.resolve(tokens.SEARCH_THREAD);
  for (const gauge of watchSearch(metrics, () => thread.status)) life.atEnd(() => gauge.stop());
  c.resolve(tokens.CONTROL).search.whenSearchIndexesChange(() => tellIndexes(c));
  await life.run(thread);
  const served = bus.serve({ kind: 'search' }, (question) => thread.ask(question));
  life.atEnd(() => served.stop());
}
