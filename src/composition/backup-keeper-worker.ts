/**
 * Entry of the thread that keeps a moment of a database: one request, with connections to NATS of its own, so that
 * folding and copying never stand before an append. Started by KeeperThread, ended by it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { connect, JetStreamJournal, JetStreamObjectStore, Names, type NatsOptions } from '../adapters/nats/index.js';
import { lowerPriority, outcomeOf, SystemClock, threadLog } from '../adapters/node/index.js';
import { type KeepRequest, type Kept, keepStates } from '../journal/backup/index.js';
import { MillraceError } from '../kernel/index.js';
import { BACKUP_PLANES } from '../replay/index.js';

export interface KeeperTask {
  readonly nats: NatsOptions;
  /** Of the installation's names on the server. */
  readonly prefix: string;
  readonly request: KeepRequest;
}

/** Live commands go first. */
const NICENESS = 10;

const port = parentPort;
if (port === null) throw new MillraceError('DEFECT', 'moments of databases are kept in a thread');

const log = threadLog((message) => port.postMessage(message));
lowerPriority(NICENESS, log);
port.postMessage(await outcomeOf(() => keep(workerData as KeeperTask)));

async function keep({ nats, prefix, request }: KeeperTask): Promise<Kept> {
  const connections = await connect({ ...nats, name: `backup ${request.backup}` });
  try {
    const names = new Names(prefix);
    const journal = new JetStreamJournal(connections, names);
    const objects = new JetStreamObjectStore(connections, names);
    return await keepStates({ journal, objects, clock: new SystemClock(), log }, request, BACKUP_PLANES.fold);
  } finally {
    await connections.close();
  }
}
