/**
 * Entry of the thread that keeps the read models, with connections to NATS of its own: neither a large transaction nor
 * a long search ever stands before a command. Started and told to stop by projections-module.ts.
 */
import { carriedBodies } from '../actors/queue/index.js';
import { answerUntilStopped, enterAnswering, keepCompiledCode } from '../adapters/node/index.js';
import { compileAhead, SqliteFiles } from '../adapters/sqlite/index.js';
import { BodyReader } from '../journal/index.js';
import {
  KeptReadModels,
  type KeptReadModelsOptions,
  type KeptReadModelsStatus,
  type ReadModelsWord,
} from '../projections/index.js';
import { answer } from '../query/index.js';
import { openThread, type ThreadTask } from './thread-container.js';

/** What the thread is started with: plain data. */
export interface ReadModelsTask extends ThreadTask {
  readonly file: string;
  /** It is the file of the statistics. */
  readonly statsFile: string;
  readonly options: KeptReadModelsOptions;
}

/**
 * Live commands go first; the compactor, whose work nobody waits for, comes behind. On Linux this is the priority of
 * the calling thread alone.
 */
const NICENESS = 9;

compileAhead();
const { port, data, log } = await enterAnswering<ReadModelsTask>('the read models', NICENESS);
const { close, ...parts } = await openThread(data, 'read models', log);
const filesOf = (path: string) => ({ file: new SqliteFiles(path), beside: new SqliteFiles(`${path}.next`) });
const kept = new KeptReadModels(
  { ...parts, bodies: new BodyReader(parts, carriedBodies) },
  { messages: filesOf(data.file), statistics: filesOf(data.statsFile) },
  data.options,
);
kept.start();
await answerUntilStopped<ReadModelsWord, KeptReadModelsStatus>(port, {
  answer: async (question) => answer(await kept.messages.answering(), question, await kept.statistics.answering()),
  hear: (word) => kept.hear(word),
  status: () => kept.status(),
  onCaughtUp: () => void keepCompiledCode(),
});
await kept.stop();
await close();
port.close();
