/** What the commands of backups stand on: an installation to copy, or an empty one to fill. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type ClusterLayout,
  JetStreamJournal,
  JetStreamLeaseStore,
  JetStreamObjectStore,
  MARK_DRAFT,
  type MarkKeeper,
  markFile,
  markRecord,
  Names,
  type NatsConnections,
  refuseUnfinishedRestore,
  shardNames,
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
import type { BackupSource, Installation, RestoreTarget } from '../journal/backup/index.js';
import type { VouchedPorts } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../messages/index.js';
import type { Log } from '../ports/index.js';
import { openConnections } from './admin-world.js';
import { LAYOUT_MARK, openNatsWorld } from './nats-world.js';

export interface SourceWorld {
  readonly source: BackupSource & VouchedPorts;
  readonly installation: Installation;
  close(): Promise<void>;
}

export interface TargetWorld {
  readonly target: RestoreTarget;
  readonly mark: MarkKeeper;
  close(): Promise<void>;
}

export function backupLog(config: Config): Log {
  const level = config.process.logLevel === 'debug' ? 'debug' : 'warn';
  return new JsonLog({ level, clock: new SystemClock(), write: streamLines(process.stderr) });
}

/**
 * The installation that runs, or that of the data directory for as long as the command takes.
 * @throws BAD_CONFIG when there is none: nothing is made here
 */
export async function openSourceWorld(config: Config, log: Log): Promise<SourceWorld> {
  const { dataDir } = config.storage;
  if (config.isEmbedded && (await readFileIfThere(join(dataDir, LAYOUT_MARK))) === undefined) {
    throw new MillraceError('BAD_CONFIG', `there is no installation in the data directory ${dataDir}`);
  }
  const { connections, layout, close } = await openConnections(config, log, false);
  return {
    source: { ...portsOf(config, connections), clock: new SystemClock(), log },
    installation: installationOf(layout),
    close,
  };
}

/**
 * @param onBegun called before anything is made there, with where it has to be marked, when that can be said so early
 * @throws CONFLICT when the place is not empty, BAD_CONFIG when an earlier restore did not come to its end
 */
export async function openTargetWorld(
  config: Config,
  log: Log,
  onBegun: (mark: MarkKeeper) => Promise<void>,
): Promise<TargetWorld> {
  if (config.isEmbedded) {
    const mark = markFile(config.storage.dataDir);
    await refuseUnfinishedRestore(mark, config.storage.dataDir);
    await refuseUsedDirectory(config.storage);
    await onBegun(mark);
  }
  const world = await openNatsWorld(config, log, () => undefined, { isRestoring: true });
  try {
    const mark = config.isEmbedded
      ? markFile(config.storage.dataDir)
      : markRecord(world.connections, config.nats.natsPrefix);
    if (!config.isEmbedded) await refuseUnfinishedRestore(mark, 'this NATS');
    const target = {
      ...portsOf(config, world.connections),
      clock: new SystemClock(),
      timers: new NodeTimers(),
      random: new NodeRandom(),
      installation: installationOf(world.layout),
    };
    return { target, mark, close: () => world.close() };
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Which key the file holds. @throws BAD_CONFIG when it is not there, or cannot be used: none is made here */
export async function keyIdOf(path: string): Promise<string> {
  if ((await readFileIfThere(path)) === undefined) {
    throw new MillraceError('BAD_CONFIG', `the key file ${path} is not there: MILLRACE_SEAL_KEY_FILE says where it is`);
  }
  const sealing = await openKeyFile(path, new NodeRandom());
  // A sealed text names its key in its second part, whatever was sealed.
  return sealing.seal('').split('.')[1] as string;
}

function portsOf(config: Config, connections: NatsConnections) {
  const names = new Names(config.nats.natsPrefix);
  return {
    journal: new JetStreamJournal(connections, names, { appendTimeoutMs: config.nats.natsAppendTimeoutMs }),
    objects: new JetStreamObjectStore(connections, names),
    leases: new JetStreamLeaseStore(connections, names),
  };
}

function installationOf(layout: ClusterLayout): Installation {
  const { kv, queue, intake } = shardNames(layout);
  const { clusterId, kvShards, queueShards } = layout;
  return {
    clusterId,
    kvShards,
    queueShards,
    journals: [...queue, ...kv, CONTROL_SHARD],
    intakes: intake,
    meter: METER_SHARD,
  };
}

/** The key file may be there before anything else is, and so may what a start that found no server left. */
async function refuseUsedDirectory({ dataDir, sealKeyFile }: Config['storage']): Promise<void> {
  const found = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const isFree = (name: string) =>
    name === 'lock' || name.startsWith(MARK_DRAFT) || resolve(dataDir, name) === resolve(sealKeyFile);
  const used = found.filter((name) => !isFree(name));
  if (used.length === 0) return;
  const names = used.slice(0, 3).join(', ');
  throw new MillraceError(
    'CONFLICT',
    `the data directory ${dataDir} is not empty (${names}): a backup is restored into an empty one only`,
  );
}
