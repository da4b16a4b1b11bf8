/**
 * Entry of the thread that keeps the read models, with connections to NATS of its own: neither a large transaction nor
 * a long search ever stands before a command. Started by ProjectionThread and told to stop by it.
 */
import { carriedBodies } from '../actors/queue/index.js';
import { answerUntilStopped, enterThread } from '../adapters/node/index.js';
import { SqliteFiles } from '../adapters/sqlite/index.js';
import { BodyReader } from '../journal/index.js';
import type { EventLimit } from '../projections/index.js';
import {
  type ReadModelOptions,
  type ReadModelStatus,
  ReadModels,
  RebuiltBeside,
  StatisticsModel,
  type StatisticsOptions,
  type StatisticsStatus,
} from '../projections/index.js';
import { answer } from '../query/index.js';
import { type ThreadWorld, threadParts } from './thread-parts.js';

/** What the thread is started with: plain data. */
export interface ProjectionTask extends ThreadWorld {
  readonly file: string;
  /** Of the statistics. */
  readonly statsFile: string;
  readonly options: ReadModelOptions;
  /** Of the statistics. */
  readonly snapshots: NonNullable<StatisticsOptions['snapshots']>;
}

/** What the thread is told beside questions. */
export type ProjectionWord =
  | { readonly kind: 'limits'; readonly limits: readonly EventLimit[] }
  | { readonly kind: 'rebuild'; readonly model: 'messages' | 'statistics' };

export interface ProjectionStatus {
  readonly readModels: ReadModelStatus;
  readonly statistics: StatisticsStatus;
}

/**
 * Live commands go first; the compactor, whose work nobody waits for, comes behind. On Linux this is the priority of
 * the calling thread alone.
 */
const NICENESS = 9;
/** Their rows are few, and remembered where they are written. */
const STATISTICS_CACHE_KIB = 8 * 1024;

const { port, data, log } = enterThread<ProjectionTask>('the read models', NICENESS);
const { file, statsFile, options, snapshots } = data;
const { close, ...parts } = await threadParts(data, 'read models', log);
const { timers } = parts;
const ports = { ...parts, bodies: new BodyReader(parts, carriedBodies) };
const { clusterId, shards } = options;
const eventLimits = new Map<EventLimit[0], EventLimit[1]>();
const messages = new RebuiltBeside({
  name: 'messages',
  files: new SqliteFiles(file),
  beside: new SqliteFiles(`${file}.next`),
  create: (files) => {
    const models = new ReadModels(ports, files, options);
    models.limitEvents(eventLimits);
    return models;
  },
  timers,
  log,
});
const cached = { cacheKib: STATISTICS_CACHE_KIB };
const statistics = new RebuiltBeside({
  name: 'statistics',
  files: new SqliteFiles(statsFile, cached),
  beside: new SqliteFiles(`${statsFile}.next`, cached),
  create: (files) => new StatisticsModel(ports, files, { clusterId, shards, snapshots }),
  timers,
  log,
});
messages.start();
statistics.start();
const hear = (word: ProjectionWord) => {
  if (word.kind === 'rebuild') {
    void (word.model === 'messages' ? messages : statistics).rebuild();
    return;
  }
  for (const [account, limit] of word.limits) eventLimits.set(account, limit);
  for (const models of messages.all) models.limitEvents(word.limits);
};
await answerUntilStopped<ProjectionWord, ProjectionStatus>(port, {
  answer: async (question) => answer(await messages.answering(), question, await statistics.answering()),
  hear,
  status: () => ({ readModels: messages.current.status(), statistics: statistics.current.status() }),
});
await Promise.all([messages.stop(), statistics.stop()]);
await close();
port.close();
