/**
 * The NATS that this process stands on: its own embedded server, or a running one. What comes out is
 * connected and its layout verified; what is missing or altered there ends the start, and is never made anew.
 */
import { join } from 'node:path';
import type { Config } from '../../../config/index.js';
import { isMillraceError, MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { readFileIfThere, refuseUnusableDirectory } from '../../node/index.js';
import { connect, type NatsConnections } from '../connection.js';
import { markFile, refuseUnfinishedRestore } from '../restore-mark.js';
import { markRecord } from '../restore-record.js';
import { Names, type NatsUser } from '../subjects.js';
import { type EmbeddedStart, openEmbedded } from './embedded-nats.js';
import { FitServers } from './fit-servers.js';
import { natsOptionsOf } from './nats-options.js';
import { NOT_CONNECTED, type OpenedNats } from './opened-nats.js';
import { verifiedLayout } from './verified-layout.js';

export interface OpenOptions {
  readonly isRestoring?: boolean;
  readonly as?: NatsUser;
  /** Of a server of our own. */
  readonly start?: EmbeddedStart;
}

/** @throws MillraceError with one clear line for whoever started the process */
export async function openNats(
  config: Config,
  log: Log,
  onGiveUp: (why: string) => void,
  { isRestoring = false, as, start }: OpenOptions = {},
): Promise<OpenedNats> {
  const { dataDir } = config.storage;
  if (config.isEmbedded) {
    await refuseUnusableDirectory(dataDir, 'MILLRACE_DATA_DIR');
    if (!isRestoring) await refuseUnfinishedRestore(markFile(dataDir), dataDir);
    return openEmbedded(config, log, onGiveUp, start);
  }
  return openRunning(config, log, isRestoring, as);
}

async function openRunning(config: Config, log: Log, isRestoring: boolean, as?: NatsUser): Promise<OpenedNats> {
  const options = natsOptionsOf(config, as);
  const connections = await connect(options);
  try {
    const { natsPrefix: prefix } = config.nats;
    const layout = await verifiedLayout(connections, prefix);
    const { allowUnsynced } = config.storage;
    const servers = await FitServers.begin(connections, { replicas: layout.replicas, allowUnsynced }, log);
    if (!isRestoring) await refuseUnfinishedRestore(markRecord(connections, prefix), 'this NATS');
    return {
      options,
      connections,
      names: new Names(prefix),
      layout,
      serverVersion: connections.serverVersions().join(', '),
      isExclusive: false,
      check: () => (connections.appends.isConnected() ? servers.check() : NOT_CONNECTED),
      close: () => {
        servers.stop();
        return connections.close();
      },
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

type Reached = Pick<OpenedNats, 'connections' | 'layout' | 'close'>;

/**
 * It opens the NATS of the process that runs here, of the cluster, or an embedded server for as long as a command takes.
 * @param needsOwner  refuse, in one line, where no process could answer a command
 * @throws SHARD_UNAVAILABLE, and what opening a NATS throws
 */
export async function openForCommand(config: Config, log: Log, needsOwner: boolean): Promise<Reached> {
  if (!config.isEmbedded) return openNats(config, log, () => undefined, { as: 'operator' });
  const { dataDir } = config.storage;
  const running = await runningServer(config);
  if (running !== undefined) return running;
  if (needsOwner) {
    throw new MillraceError('SHARD_UNAVAILABLE', `no millrace runs on the data directory ${dataDir}: start it first`);
  }
  return openNats(config, log, () => undefined);
}

/** What `client.json` says of an embedded server. */
type ClientFact = 'url' | 'user' | 'password' | 'sysUser' | 'sysPassword';

/** The server of the process that holds the data directory, if one answers. */
async function runningServer(config: Config): Promise<Reached | undefined> {
  const file = await readFileIfThere(join(config.storage.dataDir, 'nats', 'client.json'));
  if (file === undefined) return undefined;
  const facts = clientFacts(file.toString());
  if (facts === undefined) return undefined;
  const { url, user, password, sysUser, sysPassword } = facts;
  let connections: NatsConnections | undefined;
  try {
    const system = { user: sysUser, password: sysPassword };
    connections = await connect({ servers: [url], user, password, system, name: 'millrace command' });
    const opened = connections;
    const layout = await verifiedLayout(opened, config.nats.natsPrefix);
    return { connections: opened, layout, close: () => opened.close() };
  } catch (error) {
    await connections?.close();
    if (isMillraceError(error, 'JOURNAL_UNAVAILABLE')) return undefined;
    throw error;
  }
}

/** A file that a power failure cut off belongs to no server that runs. */
function clientFacts(text: string): Readonly<Record<ClientFact, string>> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
