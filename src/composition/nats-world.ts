/**
 * The NATS that this process stands on: its own embedded server, or a running one. What comes out is
 * connected and its layout verified; what is missing or altered there ends the start, and is never made anew.
 */
import { join, resolve } from 'node:path';
import {
  type DataLock,
  type EmbeddedServer,
  findNatsServer,
  lockDataDir,
  startEmbeddedServer,
} from '../adapters/nats/embedded/index.js';
import {
  type ClusterLayout,
  connect,
  initCluster,
  markFile,
  markRecord,
  Names,
  type NatsConnections,
  type NatsOptions,
  refuseUnfinishedRestore,
  verifyCluster,
} from '../adapters/nats/index.js';
import { readFileIfThere, writeFileAtomic } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { WHAT_TO_DO } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import type { Log } from '../ports/index.js';

export interface NatsWorld {
  readonly options: NatsOptions;
  readonly connections: NatsConnections;
  readonly names: Names;
  readonly layout: ClusterLayout;
  readonly serverVersion: string;
  /** True when the operating system's lock makes this the only process that can own anything. */
  readonly isExclusive: boolean;
  close(): Promise<void>;
}

/** Where `make run` and earlier starts put a fetched server, relative to the working directory. */
const TOOLS_DIR = resolve('.tools');
/** Written when the first start has made everything: from then on what is missing was lost. */
export const LAYOUT_MARK = 'layout.json';

/** @throws MillraceError with one clear line for whoever started the process */
export async function openNatsWorld(
  config: Config,
  log: Log,
  onGiveUp: (why: string) => void,
  { isRestoring = false }: { readonly isRestoring?: boolean } = {},
): Promise<NatsWorld> {
  const { dataDir } = config.storage;
  if (config.isEmbedded) {
    if (!isRestoring) await refuseUnfinishedRestore(markFile(dataDir), dataDir);
    return openEmbedded(config, log, onGiveUp);
  }
  return openRunning(config, isRestoring);
}

async function openEmbedded(config: Config, log: Log, onGiveUp: (why: string) => void): Promise<NatsWorld> {
  const { dataDir, fsync } = config.storage;
  const lock: DataLock = await lockDataDir(dataDir);
  const found = await findNatsServer({ log, toolsDir: TOOLS_DIR, path: config.nats.natsServer });
  const server: EmbeddedServer = await startEmbeddedServer({
    binary: found.path,
    version: found.version,
    dataDir,
    log,
    fsync,
    onGiveUp,
  });
  let connections: NatsConnections | undefined;
  try {
    const options: NatsOptions = {
      servers: [server.url],
      user: server.credentials.user,
      password: server.credentials.password,
      system: { user: server.sysCredentials.user, password: server.sysCredentials.password },
    };
    const opened = await connect(options);
    connections = opened;
    const layout = await embeddedLayout(opened, config);
    return {
      options,
      connections: opened,
      names: new Names(config.nats.natsPrefix),
      layout,
      serverVersion: server.version,
      isExclusive: true,
      close: async () => {
        await opened.close();
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    // Left open they look for the server for ever.
    await connections?.close();
    await server.stop();
    lock.release();
    throw error;
  }
}

async function embeddedLayout(connections: NatsConnections, config: Config): Promise<ClusterLayout> {
  const { dataDir, kvShards, queueShards } = config.storage;
  const { natsPrefix: prefix } = config.nats;
  const mark = join(dataDir, LAYOUT_MARK);
  const known = await readFileIfThere(mark);
  if (known === undefined) {
    const layout = await initCluster(connections, { prefix, kvShards, queueShards, replicas: 1 });
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

async function openRunning(config: Config, isRestoring: boolean): Promise<NatsWorld> {
  const options = natsOptionsOf(config);
  const connections = await connect(options);
  try {
    const { natsPrefix: prefix } = config.nats;
    const layout = await verifiedLayout(connections, prefix);
    if (!isRestoring) await refuseUnfinishedRestore(markRecord(connections, prefix), 'this NATS');
    return {
      options,
      connections,
      names: new Names(prefix),
      layout,
      serverVersion: connections.serverVersions().join(', '),
      isExclusive: false,
      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

/** @throws JOURNAL_DAMAGED naming every difference */
export async function verifiedLayout(connections: NatsConnections, prefix: string): Promise<ClusterLayout> {
  const { layout, differences } = await verifyCluster(connections, prefix);
  const [first] = differences;
  if (first?.kind === 'no-layout' || first?.kind === 'layout-incomplete') {
    throw new MillraceError(
      'BAD_CONFIG',
      `this NATS is not prepared (${first.detail}): run "millrace cluster init" once`,
    );
  }
  if (layout === undefined || first !== undefined) {
    const all = differences.map(({ stream, detail }) => `${stream}: ${detail}`).join('; ');
    throw new MillraceError('JOURNAL_DAMAGED', `streams are not as they were created: ${all}; ${WHAT_TO_DO}`);
  }
  return layout;
}

export function natsOptionsOf(config: Config): NatsOptions {
  const { nats } = config;
  const tls = { caFile: nats.natsTlsCa, certFile: nats.natsTlsCert, keyFile: nats.natsTlsKey };
  const hasTls = Object.values(tls).some((file) => file !== undefined);
  const hasSystem = nats.natsSysCreds !== undefined || nats.natsSysUser !== undefined;
  return withoutUndefined({
    servers: nats.natsUrl ?? [],
    user: nats.natsUser,
    password: nats.natsPassword?.reveal(),
    token: nats.natsToken?.reveal(),
    nkeyFile: nats.natsNkey,
    credsFile: nats.natsCreds,
    tls: hasTls ? withoutUndefined(tls) : undefined,
    system: hasSystem
      ? withoutUndefined({
          credsFile: nats.natsSysCreds,
          user: nats.natsSysUser,
          password: nats.natsSysPassword?.reveal(),
        })
      : undefined,
  }) as NatsOptions;
}

function withoutUndefined<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
