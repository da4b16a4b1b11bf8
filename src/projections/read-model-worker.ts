/**
 * The read models and the statistics of a process. Each can be rebuilt while the old one still serves. This is the
 * content of the read models' thread: its models, its messages and its status.
 */
import type { AccountId } from '../kernel/index.js';
import { inSeconds, type Metrics, type SqlFiles } from '../ports/index.js';
import type { EventLimit } from './event-limits.js';
import { ModelRebuilder, type MovableFiles } from './model-rebuilder.js';
import { type ReadModelOptions, type ReadModelStatus, ReadModels } from './read-models.js';
import type { ShardFollowerPorts } from './shard-follower.js';
import { SharedJournal } from './shared-journal.js';
import { StatisticsModel, type StatisticsOptions, type StatisticsStatus } from './stats/index.js';

export interface ReadModelWorkerOptions extends ReadModelOptions {
  readonly snapshots: NonNullable<StatisticsOptions['snapshots']>;
}

export interface ModelFiles {
  readonly file: SqlFiles;
  readonly next: MovableFiles;
}

/** Messages to the thread that are not questions. */
export type ReadModelsInstruction =
  | { readonly kind: 'limits'; readonly limits: readonly EventLimit[] }
  | { readonly kind: 'rebuild'; readonly model: 'messages' | 'statistics' };

export interface ReadModelWorkerStatus {
  readonly readModels: ReadModelStatus;
  readonly statistics: StatisticsStatus;
  /** Only of the read models, not of the statistics. */
  readonly isCaughtUp: boolean;
}

/** Options of the thread. A thread that died is restarted after a pause that does not grow. */
export const READ_MODELS_WORKER = {
  name: 'read models',
  events: 'read-model',
  /**
   * Heap limits; SQLite's page cache is outside them. Most objects die young, so a larger nursery would only cost
   * memory.
   */
  limits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 6 },
  /** Each answer may be a page of several MB. */
  maxQuestions: 64,
};

export class ReadModelWorker {
  readonly messages: ModelRebuilder<ReadModels>;
  readonly statistics: ModelRebuilder<StatisticsModel>;
  readonly #limits = new Map<AccountId, number>();

  constructor(
    ports: ShardFollowerPorts,
    files: { readonly messages: ModelFiles; readonly statistics: ModelFiles },
    options: ReadModelWorkerOptions,
  ) {
    const { timers, log } = ports;
    const shared = { ...ports, journal: new SharedJournal(ports.journal) };
    this.messages = new ModelRebuilder({
      name: 'messages',
      files: files.messages.file,
      nextFiles: files.messages.next,
      create: (made) => {
        const models = new ReadModels(shared, made, options);
        models.limitEvents(this.#limits);
        return models;
      },
      timers,
      log,
    });
    const { clusterId, shards, snapshots } = options;
    this.statistics = new ModelRebuilder({
      name: 'statistics',
      files: files.statistics.file,
      nextFiles: files.statistics.next,
      create: (made) => new StatisticsModel(shared, made, { clusterId, shards, snapshots }),
      timers,
      log,
    });
  }

  start(): void {
    this.messages.start();
    this.statistics.start();
  }

  hear(word: ReadModelsInstruction): void {
    if (word.kind === 'rebuild') {
      void this[word.model].rebuild();
      return;
    }
    for (const [account, limit] of word.limits) this.#limits.set(account, limit);
    for (const models of this.messages.all) models.limitEvents(word.limits);
  }

  status(): ReadModelWorkerStatus {
    const readModels = this.messages.current.status();
    return { readModels, statistics: this.statistics.current.status(), isCaughtUp: readModels.isCaughtUp };
  }

  async stop(): Promise<void> {
    await Promise.all([this.messages.stop(), this.statistics.stop()]);
  }
}

/** @param status undefined while no thread runs */
export function watchReadModels(metrics: Metrics, status: () => ReadModelWorkerStatus | undefined) {
  return [
    metrics.gauge('millrace_read_model_behind_positions', () => status()?.readModels.behindPositions),
    metrics.gauge('millrace_read_model_behind_seconds', () => inSeconds(status()?.readModels.behindMs)),
    metrics.gauge('millrace_statistics_behind_positions', () => status()?.statistics.behindPositions),
    metrics.gauge('millrace_statistics_behind_seconds', () => inSeconds(status()?.statistics.behindMs)),
  ];
}
