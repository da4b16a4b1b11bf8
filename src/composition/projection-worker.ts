/**
 * Entry of the thread that keeps the read models, with connections to NATS of its own: neither a large transaction nor
 * a long search ever stands before a command. Started by ProjectionThread and told to stop by it.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { carriedBodies } from '../actors/queue/index.js';
import { connect, JetStreamJournal, JetStreamObjectStore, Names, type NatsOptions } from '../adapters/nats/index.js';
import { answerUntilStopped, lowerPriority, NodeTimers, SystemClock, threadLog } from '../adapters/node/index.js';
import { SqliteFiles } from '../adapters/sqlite/index.js';
import { BodyReader } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
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

/** What the thread is started with: plain data. */
export interface ProjectionTask {
  readonly nats: NatsOptions;
  /** Of the installation's names on the server. */
  readonly prefix: string;
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

const port = parentPort;
if (port === null) throw new MillraceError('DEFECT', 'the read models have to be started as a thread');

const log = threadLog((message) => port.postMessage(message));
lowerPriority(NICENESS, log);
await serve(port, workerData as ProjectionTask);

async function serve(
  to: MessagePort,
  { nats, prefix, file, statsFile, options, snapshots }: ProjectionTask,
): Promise<void> {
  const connections = await connect({ ...nats, name: 'read models' });
  const names = new Names(prefix);
  const journal = new JetStreamJournal(connections, names);
  const objects = new JetStreamObjectStore(connections, names);
  const timers = new NodeTimers();
  const bodies = new BodyReader({ journal, objects, timers, log }, carriedBodies);
  const ports = { journal, objects, bodies, timers, log, clock: new SystemClock() };
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
  await answerUntilStopped<ProjectionWord, ProjectionStatus>(to, {
    answer: async (question) => answer(await messages.answering(), question, await statistics.answering()),
    hear,
    status: () => ({ readModels: messages.current.status(), statistics: statistics.current.status() }),
  });
  await Promise.all([messages.stop(), statistics.stop()]);
  await connections.close();
  to.close();
}
