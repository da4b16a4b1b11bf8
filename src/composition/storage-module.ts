/** The parts that need only this machine and NATS connections; the same for a process, its threads and commands. */
import type { DependencyContainer } from 'tsyringe';
import {
  JetStreamJournal,
  type JetStreamJournalOptions,
  JetStreamLeaseStore,
  JetStreamObjectStore,
  Names,
  type NatsConnections,
} from '../adapters/nats/index.js';
import { NodeRandom, NodeTimers, SystemClock } from '../adapters/node/index.js';
import * as tokens from './tokens.js';

/** @param prefix of the installation's names on the server */
export function registerStorage(
  c: DependencyContainer,
  connections: NatsConnections,
  prefix: string,
  options?: JetStreamJournalOptions,
): void {
  c.registerInstance(tokens.CONNECTIONS, connections);
  c.registerInstance(tokens.NAMES, new Names(prefix));
  const onNats = (from: DependencyContainer) => [from.resolve(tokens.CONNECTIONS), from.resolve(tokens.NAMES)] as const;
  tokens.once(c, tokens.JOURNAL, (from) => new JetStreamJournal(...onNats(from), options));
  tokens.once(c, tokens.OBJECTS, (from) => new JetStreamObjectStore(...onNats(from)));
  tokens.once(c, tokens.LEASES, (from) => new JetStreamLeaseStore(...onNats(from)));
}

export function registerMachine(c: DependencyContainer): void {
  c.registerInstance(tokens.CLOCK, new SystemClock());
  c.registerInstance(tokens.TIMERS, new NodeTimers());
  c.registerInstance(tokens.RANDOM, new NodeRandom());
}
