/**
 * The read models and the statistics of a process, each of which can be made anew beside the one that answers: what the
 * thread of the read models keeps, what it is told, and what it says of itself.
 */
import type { AccountId } from '../kernel/index.js';
import { inSeconds, type Metrics, type SqlFiles } from '../ports/index.js';
import type { EventLimit } from './event-limits.js';
import { type ReadModelOptions, type ReadModelStatus, ReadModels } from './read-models.js';
import { type MovableFiles, RebuiltBeside } from './rebuilt-beside.js';
import type { ShardFollowerPorts } from './shard-follower.js';
import { SharedJournal } from './shared-journal.js';
import { StatisticsModel, type StatisticsOptions, type StatisticsStatus } from './stats/index.js';

export interface KeptReadModelsOptions extends ReadModelOptions {
  readonly snapshots: NonNullable<StatisticsOptions['snapshots']>;
}

export interface FileBeside {
  readonly file: SqlFiles;
  readonly beside: MovableFiles;
}

/** What it is told beside questions. */
export type ReadModelsWord =
  | { readonly kind: 'limits'; readonly limits: readonly EventLimit[] }
  | { readonly kind: 'rebuild'; readonly model: 'messages' | 'statistics' };

export interface KeptReadModelsStatus {
  readonly readModels: ReadModelStatus;
  readonly statistics: StatisticsStatus;
  /** Of the read models. */
  readonly isCaughtUp: boolean;
}

/** The thread, as whoever starts it needs to know it. Threads follow each other after pauses that do not grow. */
export const READ_MODELS_WORKER = {
  name: 'read models',
  events: 'read-model',
  /** The tables' pages are beside it. New objects die young here; a larger nursery only costs memory. */
  limits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 6 },
  /** Each may bring a page of some MB. */
  maxQuestions: 64,
};

export class KeptReadModels {
  readonly messages: RebuiltBeside<ReadModels>;
  readonly statistics: RebuiltBeside<StatisticsModel>;
  readonly #limits = new Map<AccountId, number>();

  constructor(
    ports: ShardFollowerPorts,
    files: { readonly messages: FileBeside; readonly statistics: FileBeside },
    options: KeptReadModelsOptions,
  ) {
    const { timers, log } = ports;
    const shared = { ...ports, journal: new SharedJournal(ports.journal) };
    this.messages = new RebuiltBeside({
      name: 'messages',
      files: files.messages.file,
      beside: files.messages.beside,
      create: (made) => {
        const models = new ReadModels(shared, made, options);
        models.limitEvents(this.#limits);
        return models;
      },
      timers,
      log,
    });
    const { clusterId, shards, snapshots } = options;
    this.statistics = new RebuiltBeside({
      name: 'statistics',
      files: files.statistics.file,
      beside: files.statistics.beside,
      create: (made) => new StatisticsModel(shared, made, { clusterId, shards, snapshots }),
      timers,
      log,
    });
  }

  start(): void {
    this.messages.start();
    this.statistics.start();
  }

  hear(word: ReadModelsWord): void {
    if (word.kind === 'rebuild') {
      void this[word.model].rebuild();
      return;
    }
    for (const [account, limit] of word.limits) this.#limits.set(account, limit);
    for (const models of this.messages.all) models.limitEvents(word.limits);
  }

  status(): KeptReadModelsStatus {
    const readModels = this.messages.current.status();
    return { readModels, statistics: this.statistics.current.status(), isCaughtUp: readModels.isCaughtUp };
  }

  async stop(): Promise<void> {
    await Promise.all([this.messages.stop(), this.statistics.stop()]);
  }
}

/** @param status undefined while there is no thread */
export function watchReadModels(metrics: Metrics, status: () => KeptReadModelsStatus | undefined) {
  return [
    metrics.gauge('millrace_read_model_behind_positions', () => status()?.readModels.behindPositions),
    metrics.gauge('millrace_read_model_behind_seconds', () => inSeconds(status()?.readModels.behindMs)),
    metrics.gauge('millrace_statistics_behind_positions', () => status()?.statistics.behindPositions),
    metrics.gauge('millrace_statistics_behind_seconds', () => inSeconds(status()?.statistics.behindMs)),
  ];
}
