/** The projection role: this process keeps the read models and answers questions to them, its own and others'. */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import type { Check } from '../adapters/http-health/index.js';
import { lockDataDir } from '../adapters/nats/embedded/index.js';
import { shardNames } from '../adapters/nats/index.js';
import type { MessageLog, Metrics, RunLog, Statistics } from '../ports/index.js';
import { EventLimits, MeterTrimmer, readinessOfModels } from '../projections/index.js';
import { AskedReadModels, AskedStatistics, askOverBus } from '../query/index.js';
import { ProjectionThread } from './projection-thread.js';
import { countStale, inSeconds } from './runtime-parts.js';
import * as tokens from './tokens.js';

export interface ProjectionRole {
  readonly readModels: MessageLog & RunLog;
  readonly statistics: Statistics;
  /** Makes it anew beside the one that answers. */
  rebuild(model: 'messages' | 'statistics'): void;
  /** @throws CONFLICT when another process keeps its read models in the same data directory */
  start(): Promise<void>;
  /** For `/readyz`: ready once everything that was stored at the start has been folded. */
  check(): Check;
  stop(): Promise<void>;
}

const ENTRY = new URL('./projection-worker.js', import.meta.url);
/** Of an account whose number the thread has not been told yet. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;
/** One try over the bus: a wait, a search and the way. */
const REMOTE_TRY_MS = 5000;

export function projectionRole(c: DependencyContainer): ProjectionRole {
  const config = c.resolve(tokens.CONFIG);
  const { accounts, view } = c.resolve(tokens.CONTROL);
  const { timers, log, metrics } = tokens.portsOf(c);
  const folder = join(config.storage.dataDir, 'read-models');
  const limits: EventLimits = new EventLimits({
    limits: () => accounts.eventLimits(),
    timers,
    tell: (changes) => thread.limitEvents(changes),
  });
  const thread = projectionThread(c, folder, () => limits.begun());
  accounts.whenChanged(() => limits.changed());
  const trimmer = new MeterTrimmer({
    journal: c.resolve(tokens.JOURNAL),
    timers,
    log,
    coveredUpTo: () => thread.statistics?.meterCoveredUpTo ?? 0,
    countedUpTo: () => view.state.meterPosition,
  });
  const ends: (() => void)[] = [];
  return {
    readModels: new AskedReadModels((question) => thread.ask(question), countStale(metrics, 'messages')),
    statistics: new AskedStatistics((question) => thread.ask(question), countStale(metrics, 'statistics')),
    rebuild: (model) => thread.rebuild(model),
    start: async () => {
      const lock = await lockDataDir(folder);
      thread.start();
      trimmer.start();
      const served = c.resolve(tokens.BUS).serve({ kind: 'query' }, (question) => thread.ask(question));
      const gauges = watchModels(metrics, thread);
      ends.push(
        () => served.stop(),
        ...gauges.map((gauge) => () => gauge.stop()),
        () => lock.release(),
      );
    },
    check: () => readinessOfModels(thread.status, thread.statistics),
    stop: async () => {
      const [stopServing, ...others] = ends.splice(0);
      stopServing?.();
      limits.stop();
      trimmer.stop();
      await thread.stop();
      for (const end of others) end();
    },
  };
}

function projectionThread(c: DependencyContainer, folder: string, onBegun: () => void): ProjectionThread {
  const { nats, delivery, storage } = c.resolve(tokens.CONFIG);
  const layout = c.resolve(tokens.LAYOUT);
  const retention = { maxAgeMs: delivery.logRetentionMs, maxEvents: ANY_NUMBER };
  return new ProjectionThread({
    entry: ENTRY,
    task: {
      nats: c.resolve(tokens.WORLD).options,
      prefix: nats.natsPrefix,
      file: join(folder, 'messages.db'),
      statsFile: join(folder, 'stats.db'),
      options: { clusterId: layout.clusterId, shards: shardNames(layout).queue, retention },
      snapshots: { writer: c.resolve(tokens.SESSION).processId, meterBytes: storage.statisticsSnapshotBytes },
    },
    log: c.resolve(tokens.LOG),
    timers: c.resolve(tokens.TIMERS),
    onBegun,
  });
}

function watchModels(metrics: Metrics, thread: ProjectionThread) {
  return [
    metrics.gauge('millrace_read_model_behind_positions', () => thread.status?.behindPositions),
    metrics.gauge('millrace_read_model_behind_seconds', () => inSeconds(thread.status?.behindMs)),
    metrics.gauge('millrace_statistics_behind_positions', () => thread.statistics?.behindPositions),
    metrics.gauge('millrace_statistics_behind_seconds', () => inSeconds(thread.statistics?.behindMs)),
  ];
}

/** For a process without the role. */
export function remoteReadModels(c: DependencyContainer): MessageLog & RunLog {
  const onBehind = countStale(c.resolve(tokens.METRICS), 'messages');
  return new AskedReadModels(askOverBus(c.resolve(tokens.BUS), 'query', REMOTE_TRY_MS), onBehind);
}

/** The same for the statistics. */
export function remoteStatistics(c: DependencyContainer): Statistics {
  const onBehind = countStale(c.resolve(tokens.METRICS), 'statistics');
  return new AskedStatistics(askOverBus(c.resolve(tokens.BUS), 'query', REMOTE_TRY_MS), onBehind);
}
