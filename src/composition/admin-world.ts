/**
 * What commands of the operator stand on: the NATS of the running process, of the cluster, or, where
 * nothing runs, an embedded server for as long as the command takes.
 */
import { join } from 'node:path';
import { ControlGateway, ControlView } from '../actors/control/index.js';
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
import type { Database } from '../domain/control/index.js';
import { inDoubt, mustBeWhole } from '../journal/index.js';
import {
  type AccountId,
  type DatabaseId,
  isMillraceError,
  MillraceError,
  type PartitionName,
  type SessionId,
  type ShardName,
} from '../kernel/index.js';
import {
  accountIdOfUuid,
  CONTROL_SHARD,
  databaseIdOfUuid,
  kvPartition,
  queuePartition,
  shardOf,
} from '../messages/index.js';
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

export interface PartitionPlace {
  readonly partitions: readonly PartitionName[];
  /** `shards[i]` holds `partitions[i]`. */
  readonly shards: readonly ShardName[];
}

export interface DatabasePlace extends PartitionPlace {
  readonly id: DatabaseId;
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
    await mustBeWhole({ journal, leases }, CONTROL_SHARD);
    await untilCopied(view, timers);
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
    placeOf: async (nameOrId) => placeOf(await controlView(), nameOrId, layout),
    placeOfAccount: async (id) => placeOfAccount(await controlView(), id, layout),
    close: async () => {
      for (const view of followers) view.stop();
      await close();
    },
  };
}

/** A copy of the control state that makes no progress for so long is not coming: as long as a read of a journal waits. */
const COPY_PATIENCE_MS = 15_000;
const COPY_LOOK_MS = 50;

/** @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE when it cannot be made */
async function untilCopied(view: ControlView, timers: Timers): Promise<void> {
  let isCopied = false;
  const copied = view.start().then(() => {
    isCopied = true;
  });
  let position = view.position;
  for (let waitedMs = 0; !isCopied; waitedMs += COPY_LOOK_MS) {
    if (view.position !== position) waitedMs = 0;
    position = view.position;
    if (view.damage !== undefined) throw inDoubt(view.damage);
    if (waitedMs >= COPY_PATIENCE_MS) {
      const why = `${CONTROL_SHARD}: nothing behind position ${position} arrives`;
      throw new MillraceError('JOURNAL_UNAVAILABLE', `${why}: look at its stream on the NATS server`);
    }
    await Promise.race([copied, timers.pause(COPY_LOOK_MS)]);
  }
}

type Named = Pick<Database, 'id' | 'name' | 'deletedAtMs'>;

function placeOf(view: ControlView, nameOrId: string, layout: ClusterLayout): DatabasePlace {
  const { databases, search } = view.state;
  const asked = databaseIdOfUuid(nameOrId) ?? nameOrId;
  const isMeant = ({ id, name, deletedAtMs }: Named) =>
    id === asked || (name === nameOrId && deletedAtMs === undefined);
  const named = [...databases.values()].filter(isMeant);
  // Documents of a search index are keys of a database that has no other tokens.
  const indexes = [...search.byId.values()].filter(isMeant).map(({ id }) => ({ id, partitions: 1 }));
  const found = named.length > 0 ? named : indexes;
  const [database] = found;
  if (database === undefined) throw new MillraceError('NOT_FOUND', `there is no database ${nameOrId}`);
  if (found.length > 1) {
    throw new MillraceError('CONFLICT', `${found.length} databases are named ${nameOrId}: say which by its id`);
  }
  const partitions = Array.from({ length: database.partitions }, (_, index) => kvPartition(database.id, index));
  const shards = partitions.map((partition) => shardOf('kv', partition, layout.kvShards));
  return { id: database.id, partitions, shards };
}

function placeOfAccount(view: ControlView, idOrUuid: string, { queueShards }: ClusterLayout): PartitionPlace {
  const id = (accountIdOfUuid(idOrUuid) ?? idOrUuid) as AccountId;
  if (!view.state.accounts.has(id)) throw new MillraceError('NOT_FOUND', `there is no account ${idOrUuid}`);
  const partition = queuePartition(id);
  return { partitions: [partition], shards: [shardOf('queue', partition, queueShards)] };
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
