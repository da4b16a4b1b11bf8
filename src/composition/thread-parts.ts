/** What a thread of this process stands on: connections to NATS of its own, so that it never stands before a command. */
import {
  connect,
  JetStreamJournal,
  JetStreamLeaseStore,
  JetStreamObjectStore,
  Names,
  type NatsOptions,
} from '../adapters/nats/index.js';
import { NodeRandom, NodeTimers, SystemClock } from '../adapters/node/index.js';
import type { Clock, Journal, LeaseStore, Log, ObjectStore, Random, Timers } from '../ports/index.js';

/** Plain data: it is cloned into the thread. */
export interface ThreadWorld {
  readonly nats: NatsOptions;
  /** Of the installation's names on the server. */
  readonly prefix: string;
}

export interface ThreadParts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  close(): Promise<void>;
}

/** @param name of the connections, as the server lists them. @throws JOURNAL_UNAVAILABLE */
export async function threadParts({ nats, prefix }: ThreadWorld, name: string, log: Log): Promise<ThreadParts> {
  const connections = await connect({ ...nats, name });
  const names = new Names(prefix);
  return {
    journal: new JetStreamJournal(connections, names),
    objects: new JetStreamObjectStore(connections, names),
    leases: new JetStreamLeaseStore(connections, names),
    clock: new SystemClock(),
    timers: new NodeTimers(),
    random: new NodeRandom(),
    log,
    close: () => connections.close(),
  };
}
