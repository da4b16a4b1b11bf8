/**
 * What commands of the operator stand on: the NATS of the running process, of the cluster, or, where
 * nothing runs, an embedded server for as long as the command takes.
 */
import { join } from 'node:path';
import {
  ControlGateway,
  ControlView,
  copyControl,
  type DatabasePlace,
  type PartitionPlace,
  placeOfAccount,
  placeOfDatabase,
} from '../actors/control/index.js';
import { KvShardGateway } from '../actors/kv-shard/index.js';
import { ShardCaller } from '../actors/runtime/index.js';
import {
  type ClusterLayout,
  connect,
  JetStreamJournal,
  JetStreamLeaseStore,
  JetStreamObjectStore,
  Names,
  NatsBus,
  type NatsConnections,
} from '../adapters/nats/index.js';
import {
  JsonLog,
  NodeRandom,
  NodeTimers,
  openKeyFile,
  readFileIfThere,
  SystemClock,
  streamLines,
} from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { isMillraceError, MillraceError, type SessionId } from '../kernel/index.js';
import type {
  Clock,
  Journal,
  KvGateway,
  LeaseStore,
  Log,
  ObjectStore,
  Random,
  Sealing,
  Timers,
} from '../ports/index.js';
import { openNatsWorld, verifiedLayout } from './nats-world.js';
import { callLimitsOf } from './runtime-parts.js';

export interface AdminWorld {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly random: Random;
  readonly layout: ClusterLayout;
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly leases: LeaseStore;
  readonly client: ControlGateway;
  readonly gateway: KvGateway;
  sealing(): Promise<Sealing>;
  /** A copy of the control state that follows its journal until the world is closed. */
  followControl(): Promise<ControlView>;
  /** A database, or a search index, by name, id or UUID. @throws NOT_FOUND, CONFLICT when several have the name */
  placeOf(nameOrId: string): Promise<DatabasePlace>;
  /** Of the account's queue. @throws NOT_FOUND */
  placeOfAccount(id: string): Promise<PartitionPlace>;
  close(): Promise<void>;
}

/** @param needsOwner  refuse, in one line, where no process could answer a command */
export async function openAdminWorld(config: Config, needsOwner: boolean): Promise<AdminWorld> {
  const clock = new SystemClock();
  const timers = new NodeTimers();
  const random = new NodeRandom();
  const level = config.process.logLevel === 'debug' ? 'debug' : 'warn';
  const log = new JsonLog({ level, clock, write: streamLines(process.stderr) });
  const { connections, layout, close } = await openConnections(config, log, needsOwner);
  const names = new Names(config.nats.natsPrefix);
  const journal = new JetStreamJournal(connections, names);
  const objects = new JetStreamObjectStore(connections, names);
  const leases = new JetStreamLeaseStore(connections, names);
  const bus = new NatsBus(connections, names, { log });
  const caller = new ShardCaller(bus, clock, timers, random, callLimitsOf(config));
  const gatewayLimits = { holdMs: config.ownership.requestHoldMs, retryEveryMs: 50 };
  const session = 'command' as SessionId;
  const followers: ControlView[] = [];
  const followControl = async (): Promise<ControlView> => {
    const view = new ControlView(
      { journal, objects, timers, log, bus, clock },
      { session, staleMs: config.ownership.controlStaleMs },
    );
    followers.push(view);
    await copyControl(view, { journal, leases, timers });
    return view;
  };
  /** The control state as it is now. */
  const controlView = async (): Promise<ControlView> => {
    const view = await followControl();
    view.stop();
    return view;
  };
  return {
    clock,
    timers,
    log,
    random,
    layout,
    journal,
    objects,
    leases,
    followControl,
    client: new ControlGateway(caller, undefined),
    gateway: new KvShardGateway({ clock, timers, caller, host: undefined }, gatewayLimits, layout.kvShards),
    sealing: () => openKeyFile(config.storage.sealKeyFile, random),
    placeOf: async (nameOrId) => placeOfDatabase((await controlView()).state, nameOrId, layout),
    placeOfAccount: async (id) => placeOfAccount((await controlView()).state, id, layout),
    close: async () => {
      for (const view of followers) view.stop();
      await close();
    },
  };
}

export interface Opened {
  readonly connections: NatsConnections;
  readonly layout: ClusterLayout;
  close(): Promise<void>;
}

/** @param needsOwner as above. @throws SHARD_UNAVAILABLE, and what opening a NATS throws */
export async function openConnections(config: Config, log: Log, needsOwner: boolean): Promise<Opened> {
  if (!config.isEmbedded) return openNatsWorld(config, log, () => undefined);
  const { dataDir } = config.storage;
  const running = await runningServer(config);
  if (running !== undefined) return running;
  if (needsOwner) {
    throw new MillraceError('SHARD_UNAVAILABLE', `no millrace runs on the data directory ${dataDir}: start it first`);
  }
  return openNatsWorld(config, log, () => undefined);
}

/** The server of the process that holds the data directory, if one answers. */
async function runningServer(config: Config): Promise<Opened | undefined> {
  const file = await readFileIfThere(join(config.storage.dataDir, 'nats', 'client.json'));
  if (file === undefined) return undefined;
  const { url, user, password } = JSON.parse(file.toString()) as Record<'url' | 'user' | 'password', string>;
  let connections: NatsConnections | undefined;
  try {
    connections = await connect({ servers: [url], user, password, name: 'millrace command' });
    const opened = connections;
    const layout = await verifiedLayout(opened, config.nats.natsPrefix);
    return { connections: opened, layout, close: () => opened.close() };
  } catch (error) {
    await connections?.close();
    if (isMillraceError(error, 'JOURNAL_UNAVAILABLE')) return undefined;
    throw error;
  }
}
