/** The embedded server of this process, in a data directory that it has locked, with its layout. */
import { join } from 'node:path';
import type { Config } from '../../../config/index.js';
import { MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { readFileIfThere, writeFileAtomic } from '../../node/index.js';
import { initCluster } from '../cluster-layout.js';
import { connect, type NatsConnections, type NatsOptions } from '../connection.js';
import { type EmbeddedServer, type EmbeddedServerOptions, startEmbeddedServer } from '../embedded/index.js';
import type { ClusterLayout } from '../layout-record.js';
import { Names } from '../subjects.js';
import { LAYOUT_MARK, NOT_CONNECTED, type OpenedNats } from './opened-nats.js';
import { type PreparedServer, prepareServer } from './prepared-server.js';
import { verifiedLayout } from './verified-layout.js';

/** Hooks of the caller in the start of the server. */
export interface EmbeddedStart extends Pick<EmbeddedServerOptions, 'unneeded' | 'onLaunch'> {
  readonly prepared?: Promise<PreparedServer>;
  /** Called when the streams of a first start have been requested. */
  readonly onAsked?: () => void;
}

/** The first start creates the streams; a stream that is missing later was lost. @throws MillraceError */
export async function openEmbedded(
  config: Config,
  log: Log,
  onGiveUp: (reason: string) => void,
  { prepared = prepareServer(config, log), onAsked, ...start }: EmbeddedStart = {},
): Promise<OpenedNats> {
  const { dataDir, fsync } = config.storage;
  const { lock, found, binding, dataKey } = await prepared;
  const server: EmbeddedServer = await startEmbeddedServer({
    binding,
    binary: found.path,
    version: found.version,
    dataDir,
    log,
    fsync,
    storeKey: dataKey && Buffer.from(dataKey.keyFor('nats-server')).toString('hex'),
    onGiveUp,
    ...start,
  });
  let connections: NatsConnections | undefined;
  try {
    const options: NatsOptions = {
      servers: [server.url],
      user: server.credentials.user,
      password: server.credentials.password,
      system: { user: server.sysCredentials.user, password: server.sysCredentials.password },
      isOwn: true,
    };
    const opened = await connect(options);
    connections = opened;
    const layout = await embeddedLayout(opened, config, onAsked);
    return {
      options,
      connections: opened,
      names: new Names(config.nats.natsPrefix),
      layout,
      serverVersion: server.version,
      isExclusive: true,
      check: () => (opened.appends.isConnected() ? { ok: true } : NOT_CONNECTED),
      close: async () => {
        await opened.close();
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    // Open connections would try to reconnect forever.
    await connections?.close();
    await server.stop();
    lock.release();
    throw error;
  }
}

/** The embedded server that another process of this machine runs. @throws MillraceError */
export async function openShared(config: Config, options: NatsOptions): Promise<OpenedNats> {
  const connections = await connect(options);
  try {
    const layout = await verifiedLayout(connections, config.nats.natsPrefix);
    return {
      options,
      connections,
      names: new Names(config.nats.natsPrefix),
      layout,
      serverVersion: connections.serverVersions().join(', '),
      isExclusive: false,
      check: () => (connections.appends.isConnected() ? { ok: true } : NOT_CONNECTED),
      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

async function embeddedLayout(
  connections: NatsConnections,
  config: Config,
  onAsked?: () => void,
): Promise<ClusterLayout> {
  const { dataDir, kvShards, queueShards } = config.storage;
  const { natsPrefix: prefix } = config.nats;
  const mark = join(dataDir, LAYOUT_MARK);
  const known = await readFileIfThere(mark);
  if (known === undefined) {
    const layout = await initCluster(connections, {
      prefix,
      kvShards,
      queueShards,
      replicas: 1,
      // MILLRACE_FSYNC decides whether it syncs.
      allowUnsynced: true,
      isOwnServer: true,
      ...(onAsked && { onAsked }),
    });
    await writeFileAtomic(mark, `${JSON.stringify({ clusterId: layout.clusterId })}\n`, 0o600);
    return layout;
  }
  const layout = await verifiedLayout(connections, prefix);
  const { clusterId } = JSON.parse(known.toString()) as { clusterId: string };
  if (layout.clusterId !== clusterId) {
    throw new MillraceError('JOURNAL_DAMAGED', `${dataDir} holds the journal of another installation`);
  }
  return layout;
}
