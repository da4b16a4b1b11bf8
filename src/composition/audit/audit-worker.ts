/**
 * Entry of a thread that walks through the journal for one question, with connections to NATS of its own. Ended by
 * whoever asked.
 *
 *  AW1 texts are sent as many as were asked for: nothing piles up before a reader who is slow
 */
import { parentPort, workerData } from 'node:worker_threads';
import {
  connect,
  JetStreamJournal,
  JetStreamLeaseStore,
  JetStreamObjectStore,
  Names,
  type NatsOptions,
} from '../../adapters/nats/index.js';
import {
  type LogMessage,
  lowerPriority,
  NodeRandom,
  SystemClock,
  threadLog,
  WantedTexts,
} from '../../adapters/node/index.js';
import { describeError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { AuditTask } from '../../ports/index.js';
import { foldOfPartition, walk } from '../../replay/index.js';

export interface AuditWork {
  readonly nats: NatsOptions;
  readonly prefix: string;
  readonly kvShards: number;
  readonly queueShards: number;
  readonly shards: readonly ShardName[];
  readonly logs: readonly ShardName[];
  readonly task: AuditTask;
}

export type ToAudit = { readonly kind: 'more'; readonly count: number };
export type FromAudit =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly code: MillraceError['code']; readonly message: string }
  | LogMessage;

/** Behind everything that somebody waits for. */
const NICENESS = 12;

const port = parentPort;
if (port === null) throw new MillraceError('DEFECT', 'an audit has to be started as a thread');

const log = threadLog(tell);
lowerPriority(NICENESS, log);
await work(workerData as AuditWork);
port.close();

async function work({ nats, prefix, task, ...layout }: AuditWork): Promise<void> {
  const wanted = new WantedTexts();
  port?.on('message', ({ count }: ToAudit) => wanted.add(count));
  try {
    const connections = await connect({ ...nats, name: 'audit' });
    const names = new Names(prefix);
    const world = {
      ...layout,
      journal: new JetStreamJournal(connections, names),
      objects: new JetStreamObjectStore(connections, names),
      leases: new JetStreamLeaseStore(connections, names),
      clock: new SystemClock(),
      random: new NodeRandom(),
      foldFactory: foldOfPartition,
      log,
    };
    for await (const text of walk(world, task)) {
      await wanted.take();
      tell({ kind: 'text', text });
    }
    tell({ kind: 'end' });
    await connections.close();
  } catch (error) {
    // The thread is ended by whoever hears of it, and its connections with it.
    const code = error instanceof MillraceError ? error.code : 'DEFECT';
    tell({ kind: 'failure', code, message: describeError(error) });
  }
}

function tell(message: FromAudit): void {
  port?.postMessage(message);
}
