/**
 * Opens the NATS of this process: an embedded server, or an external one. The result is connected and has a verified
 * layout. A missing or altered part of the layout ends the start; it is never created again.
 */
import { join } from 'node:path';
import type { Config } from '../../../config/index.js';
import { isMillraceError, MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { readFileIfThere, refuseUnusableDirectory } from '../../node/index.js';
import { connect, type NatsConnections, type NatsOptions } from '../connection.js';
import { markFile, refuseUnfinishedRestore } from '../restore-mark.js';
import { markRecord } from '../restore-record.js';
import { Names, type NatsUser } from '../subjects.js';
import { type EmbeddedStart, openEmbedded, openShared } from './embedded-nats.js';
import { FitServers } from './fit-servers.js';
import { natsOptionsOf } from './nats-options.js';
import { NOT_CONNECTED, type OpenedNats } from './opened-nats.js';
import { verifiedLayout } from './verified-layout.js';

export interface OpenOptions {
  readonly isRestoring?: boolean;
  readonly as?: NatsUser;
  /** For an embedded server. */
  readonly start?: EmbeddedStart;
  readonly reached?: ReachedNats | undefined;
  /** The embedded server of the supervisor of this process. */
  readonly shared?: NatsOptions | undefined;
}

/** The work of a process while an external NATS is reachable and not usable yet. */
export interface ReachedNats {
  /** Called once it is connected. */
  onConnected(connections: NatsConnections): void;
  /** Resolves at the next try. @throws when there is none */
  untilNextTry(reason: MillraceError): Promise<void>;
}

/** @throws MillraceError with one line for the operator */
export async function openNats(
  config: Config,
  log: Log,
  onGiveUp: (reason: string) => void,
  { isRestoring = false, as, start, reached, shared }: OpenOptions = {},
): Promise<OpenedNats> {
  const { dataDir } = config.storage;
  if (shared !== undefined) return openShared(config, shared);
  if (config.isEmbedded) {
    await refuseUnusableDirectory(dataDir, 'MILLRACE_DATA_DIR');
    if (!isRestoring) await refuseUnfinishedRestore(markFile(dataDir), dataDir);
    return openEmbedded(config, log, onGiveUp, start);
  }
  return openRunning(config, log, { isRestoring, as, reached });
}

type RunningOptions = Pick<OpenOptions, 'isRestoring' | 'reached'> & { readonly as: NatsUser | undefined };

async function openRunning(
  config: Config,
  log: Log,
  { isRestoring, as, reached }: RunningOptions,
): Promise<OpenedNats> {
  const options = natsOptionsOf(config, as);
  const connections = await connect(options);
  try {
    const { natsPrefix: prefix } = config.nats;
    reached?.onConnected(connections);
    const layout = await onceAnswered(connections, reached, () => verifiedLayout(connections, prefix));
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

/** Repeats a request over the same connections until there is an answer, because heartbeats count from their opening. */
async function onceAnswered<T>(
  { control }: NatsConnections,
  reached: ReachedNats | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (reached === undefined || !control.isConnected() || !isMillraceError(error, 'JOURNAL_UNAVAILABLE'))
        throw error;
      await reached.untilNextTry(error);
    }
  }
}

type Reached = Pick<OpenedNats, 'connections' | 'layout' | 'close'>;

/**
 * Opens a NATS for a command: that of the process that runs here, that of the cluster, or an embedded server until the
 * command ends.
 * @param needsOwner  refuses, in one line, an installation without a process that can answer
 * @throws SHARD_UNAVAILABLE, and the errors of opening a NATS
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

/** The fields of `client.json` of an embedded server. */
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

/** A file that a power failure truncated belongs to no running server. */
function clientFacts(text: string): Readonly<Record<ClientFact, string>> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
