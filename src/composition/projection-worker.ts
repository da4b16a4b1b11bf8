/**
 * Entry of the thread that keeps the read models, with connections to NATS of its own: neither a large transaction nor
 * a long search ever stands before a command. Started by ReadModelThread and told to stop by it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { carriedBodies } from '../actors/queue/index.js';
import { connect, JetStreamJournal, JetStreamObjectStore, Names, type NatsOptions } from '../adapters/nats/index.js';
import { NodeTimers, SystemClock } from '../adapters/node/index.js';
import { SqliteFiles } from '../adapters/sqlite/index.js';
import { BodyReader } from '../journal/index.js';
import { describeError, MillraceError } from '../kernel/index.js';
import type { LogFields } from '../ports/index.js';
import { type ReadModelOptions, type ReadModelStatus, ReadModels } from '../projections/index.js';
import { answer } from '../query/index.js';
import type { EventLimit } from './event-limits.js';
import { type LogMessage, lowerPriority, plainFields, threadLog } from './worker-thread.js';

/** What the thread is started with: plain data. */
export interface ProjectionTask {
  readonly nats: NatsOptions;
  /** Of the installation's names on the server. */
  readonly prefix: string;
  readonly file: string;
  readonly options: ReadModelOptions;
}

export type ToProjection =
  | { readonly kind: 'limits'; readonly limits: readonly EventLimit[] }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Uint8Array }
  | { readonly kind: 'stop' };

export type FromProjection =
  | { readonly kind: 'answer'; readonly id: number; readonly bytes: Uint8Array }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly code: MillraceError['code'];
      readonly message: string;
      readonly details: LogFields;
    }
  | { readonly kind: 'status'; readonly status: ReadModelStatus }
  | LogMessage;

/**
 * Live commands go first; the compactor, whose work nobody waits for, comes behind. On Linux this is the priority of
 * the calling thread alone.
 */
const NICENESS = 9;
const STATUS_EVERY_MS = 250;

const port = parentPort;
if (port === null) throw new MillraceError('DEFECT', 'the read models have to be started as a thread');

const log = threadLog(tell);
lowerPriority(NICENESS, log);
await serve(workerData as ProjectionTask);

async function serve({ nats, prefix, file, options }: ProjectionTask): Promise<void> {
  const connections = await connect({ ...nats, name: 'read models' });
  const names = new Names(prefix);
  const journal = new JetStreamJournal(connections, names);
  const objects = new JetStreamObjectStore(connections, names);
  const timers = new NodeTimers();
  const bodies = new BodyReader({ journal, objects, timers, log }, carriedBodies);
  const ports = { journal, objects, bodies, timers, log, clock: new SystemClock() };
  const models = new ReadModels(ports, new SqliteFiles(file), options);
  const tellStatus = () => tell({ kind: 'status', status: models.status() });
  const statusTimer = setInterval(tellStatus, STATUS_EVERY_MS);
  const stopped = new Promise<void>((resolve) => {
    port?.on('message', (message: ToProjection) => {
      if (message.kind === 'stop') resolve();
      else if (message.kind === 'limits') models.limitEvents(message.limits);
      else void answerTo(models, message);
    });
  });
  models.start();
  await stopped;
  clearInterval(statusTimer);
  await models.stop();
  await connections.close();
  port?.close();
}

async function answerTo(models: ReadModels, { id, question }: Extract<ToProjection, { kind: 'ask' }>): Promise<void> {
  try {
    const bytes = new Uint8Array(await answer(models, question));
    port?.postMessage({ kind: 'answer', id, bytes } satisfies FromProjection, [bytes.buffer]);
  } catch (error) {
    const code = error instanceof MillraceError ? error.code : 'DEFECT';
    const details = error instanceof MillraceError ? plainFields(error.details) : {};
    tell({ kind: 'failure', id, code, message: describeError(error), details });
  }
}

function tell(message: FromProjection): void {
  port?.postMessage(message);
}
