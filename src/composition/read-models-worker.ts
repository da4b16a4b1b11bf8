/**
 * Entry of the thread of the read models. It has its own NATS connections, so that large transactions and long
 * searches never delay a command. projections-module.ts starts and stops it.
 */
import { carriedBodies } from '../actors/queue/index.js';
import { answerUntilStopped, enterAnswering, flushCompileCache } from '../adapters/node/index.js';
import { compileAhead, encryptedEngine, SqliteFiles } from '../adapters/sqlite/index.js';
import { BodyReader } from '../journal/index.js';
import { type ReadModelsInstruction, ReadModelWorker, type ReadModelWorkerStatus } from '../projections/index.js';
import { answer } from '../query/index.js';
import { openThread } from './thread-container.js';
import type { ReadModelsTask } from './thread-tasks.js';

/**
 * Live commands have priority over it, and it has priority over the compactor, which no client waits for. On Linux
 * this sets only the calling thread's priority.
 */
const NICENESS = 9;

compileAhead();
const { port, data, log } = await enterAnswering<ReadModelsTask>('the read models', NICENESS);
const { close, ...parts } = await openThread(data, 'read models', log);
const engine = data.key && (await encryptedEngine(data.key));
const filesOf = (path: string) => ({
  file: new SqliteFiles(path, engine),
  next: new SqliteFiles(`${path}.next`, engine),
});
const kept = new ReadModelWorker(
  { ...parts, bodies: new BodyReader(parts, carriedBodies) },
  { messages: filesOf(data.file), statistics: filesOf(data.statsFile) },
  data.options,
);
kept.start();
await answerUntilStopped<ReadModelsInstruction, ReadModelWorkerStatus>(port, {
  answer: async (question) => answer(await kept.messages.answering(), question, await kept.statistics.answering()),
  hear: (word) => kept.hear(word),
  status: () => kept.status(),
  onCaughtUp: flushCompileCache,
});
await kept.stop();
await close();
port.close();
