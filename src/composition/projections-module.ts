/** The read models and the statistics, kept and queried in a thread of a process with the role `projection`. */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import { lockDataDir } from '../adapters/nats/embedded/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { AnsweringThread } from '../adapters/node/index.js';
import { EventLimits, MeterTrimmer, READ_MODELS_WORKER, watchReadModels } from '../projections/index.js';
import { type Ask, askOverBus, countStale, ReadModelsClient, StatisticsClient } from '../query/index.js';
import { threadTaskOf } from './thread-container.js';
import type { ReadModelsTask } from './thread-tasks.js';
import * as tokens from './tokens.js';

/** Used for an account whose limit the thread does not know yet. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;

/** A process without the role asks other processes. */
export function registerRemoteReadModels(c: DependencyContainer): void {
  registerAsked(c, askOverBus(c.resolve(tokens.BUS), 'query'));
  const worker = tokens.ifRegistered(c, tokens.WORKER);
  // Another worker of this machine may keep them.
  if (worker !== undefined)
    c.registerInstance(tokens.READ_MODEL_CARE, { rebuild: (model) => worker.link.rebuild(model) });
}

export function registerReadModels(c: DependencyContainer): void {
  tokens.once(c, tokens.READ_MODELS_THREAD, () => {
    const { timers, log } = tokens.storagePortsOf(c);
    const onBegun = () => c.resolve(tokens.EVENT_LIMITS).begun();
    const entry = new URL('./read-models-worker.js', import.meta.url);
    return new AnsweringThread({ entry, task: taskOf(c), log, timers, onBegun }, READ_MODELS_WORKER);
  });
  tokens.once(c, tokens.EVENT_LIMITS, () => {
    const { accounts } = c.resolve(tokens.CONTROL);
    const thread = c.resolve(tokens.READ_MODELS_THREAD);
    return new EventLimits({
      limits: () => accounts.eventLimits(),
      timers: c.resolve(tokens.TIMERS),
      tell: (limits) => thread.tell({ kind: 'limits', limits }),
    });
  });
  registerAsked(c, (question) => c.resolve(tokens.READ_MODELS_THREAD).ask(question));
  c.registerInstance(tokens.READ_MODEL_CARE, {
    rebuild: (model) => {
      if (model === 'search') c.resolve(tokens.SEARCH_THREAD).tell({ kind: 'rebuild' });
      else c.resolve(tokens.READ_MODELS_THREAD).tell({ kind: 'rebuild', model });
    },
  });
}

function registerAsked(c: DependencyContainer, ask: Ask): void {
  const metrics = c.resolve(tokens.METRICS);
  tokens.once(c, tokens.READ_MODELS, () => new ReadModelsClient(ask, countStale(metrics, 'messages')));
  tokens.once(c, tokens.STATISTICS, () => new StatisticsClient(ask, countStale(metrics, 'statistics')));
}

/** @throws CONFLICT if another process keeps its read models in the same data directory */
export async function startReadModels(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  const { journal, timers, log, metrics, bus } = tokens.portsOf(c);
  const { accounts, view } = c.resolve(tokens.CONTROL);
  const thread = c.resolve(tokens.READ_MODELS_THREAD);
  const limits = c.resolve(tokens.EVENT_LIMITS);
  accounts.whenChanged(() => limits.changed());
  const lock = await lockDataDir(folderOf(c));
  life.atEnd(() => lock.release());
  for (const gauge of watchReadModels(metrics, () => thread.status)) life.atEnd(() => gauge.stop());
  await life.run(thread);
  const trimmer = new MeterTrimmer({
    journal,
    timers,
    log,
    coveredUpTo: () => thread.status?.statistics.meterCoveredUpTo ?? 0,
    countedUpTo: () => view.state.meterPosition,
  });
  await life.run(trimmer);
  life.atEnd(() => limits.stop());
  const served = bus.serve({ kind: 'query' }, (question) => thread.ask(question));
  life.atEnd(() => served.stop());
}

function taskOf(c: DependencyContainer): ReadModelsTask {
  const { delivery, storage } = c.resolve(tokens.CONFIG);
  const { layout } = c.resolve(tokens.NATS);
  return {
    ...threadTaskOf(c),
    file: join(folderOf(c), 'messages.db'),
    statsFile: join(folderOf(c), 'stats.db'),
    key: c.resolve(tokens.DATA_KEY).key?.keyFor('read models'),
    options: {
      clusterId: layout.clusterId,
      shards: shardNames(layout).queue,
      retention: {
        maxAgeMs: delivery.logRetentionMs,
        maxAnswerAgeMs: delivery.deliveredAnswerRetentionMs,
        maxEvents: ANY_NUMBER,
      },
      snapshots: { writer: c.resolve(tokens.SESSION).processId, meterBytes: storage.statisticsSnapshotBytes },
    },
  };
}

function folderOf(c: DependencyContainer): string {
  return join(c.resolve(tokens.CONFIG).storage.dataDir, 'read-models');
}
