/** The projection role: this process keeps the read models and answers questions to them, its own and others'. */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import type { Accounts } from '../actors/control/index.js';
import type { Check } from '../adapters/http-health/index.js';
import { lockDataDir } from '../adapters/nats/embedded/index.js';
import { shardNames } from '../adapters/nats/index.js';
import type { MessageLog, RunLog, Statistics } from '../ports/index.js';
import { EventLimits, MeterTrimmer, readinessOfModels } from '../projections/index.js';
import { AskedReadModels, AskedStatistics, askOverBus } from '../query/index.js';
import type { NatsWorld } from './nats-world.js';
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

export interface ProjectionRoleOptions {
  readonly world: NatsWorld;
  readonly accounts: Pick<Accounts, 'eventLimits' | 'whenChanged'>;
  /** Position up to which the control state has counted the meter's log. */
  meterCountedUpTo(): number;
}

const ENTRY = new URL('./projection-worker.js', import.meta.url);
/** Of an account whose number the thread has not been told yet. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;
/** One try over the bus: a wait, a search and the way. */
const REMOTE_TRY_MS = 5000;

export function projectionRole(
  c: DependencyContainer,
  { world, accounts, meterCountedUpTo }: ProjectionRoleOptions,
): ProjectionRole {
  const config = c.resolve(tokens.CONFIG);
  const bus = c.resolve(tokens.BUS);
  const metrics = c.resolve(tokens.METRICS);
  const layout = c.resolve(tokens.LAYOUT);
  const timers = c.resolve(tokens.TIMERS);
  const log = c.resolve(tokens.LOG);
  const retention = { maxAgeMs: config.delivery.logRetentionMs, maxEvents: ANY_NUMBER };
  const folder = join(config.storage.dataDir, 'read-models');
  const thread = new ProjectionThread({
    entry: ENTRY,
    task: {
      nats: world.options,
      prefix: config.nats.natsPrefix,
      file: join(folder, 'messages.db'),
      statsFile: join(folder, 'stats.db'),
      options: { clusterId: layout.clusterId, shards: shardNames(layout).queue, retention },
      snapshots: {
        writer: c.resolve(tokens.SESSION).processId,
        meterBytes: config.storage.statisticsSnapshotBytes,
      },
    },
    log,
    timers,
    onBegun: () => limits.begun(),
  });
  const limits = new EventLimits({
    limits: () => accounts.eventLimits(),
    timers,
    tell: (changes) => thread.limitEvents(changes),
  });
  accounts.whenChanged(() => limits.changed());
  const trimmer = new MeterTrimmer({
    journal: c.resolve(tokens.JOURNAL),
    timers,
    log,
    coveredUpTo: () => thread.statistics?.meterCoveredUpTo ?? 0,
    countedUpTo: meterCountedUpTo,
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
      const served = bus.serve({ kind: 'query' }, (question) => thread.ask(question));
      const gauges = [
        metrics.gauge('millrace_read_model_behind_positions', () => thread.status?.behindPositions),
        metrics.gauge('millrace_read_model_behind_seconds', () => inSeconds(thread.status?.behindMs)),
        metrics.gauge('millrace_statistics_behind_positions', () => thread.statistics?.behindPositions),
        metrics.gauge('millrace_statistics_behind_seconds', () => inSeconds(thread.statistics?.behindMs)),
      ];
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
