/**
 * Three nats-servers on free loopback ports, configured only by the files of `infra/nats`, for tests that kill or
 * freeze nodes. They end with the test process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect } from 'nats';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { NatsRoutes } from './nats-routes.js';
import { SmallDisk } from './small-disk.js';

/** The limit from the start of the servers to the election of their leader, which may take nine seconds. */
const FORMING_TIMEOUT_MS = 30_000;
const NODES = [1, 2, 3] as const;

interface NatsClusterNode {
  readonly name: string;
  readonly url: string;
  /** The process id of the current or last server. */
  readonly pid: number;
  /** Sends SIGKILL; resolves when the server has ended. */
  kill(): Promise<void>;
  /** Stops the server gracefully; resolves when it has ended. */
  end(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Starts the server again with the same ports and store. */
  start(): void;
  /** Makes the server reload its configuration and certificates. */
  reload(): void;
  /** The log of the server. */
  log(): Promise<string>;
  /** Throws unless the node reports that it is part of a working cluster. */
  expectHealthy(): Promise<void>;
  /** Throws unless the node knows the leader of the cluster, which needs a quorum. */
  expectLed(): Promise<void>;
  /** The directory of its streams. */
  readonly storeDir: string;
  /** The server's description of its streams. */
  streams(): Promise<unknown>;
  /** The names of the streams that it leads. */
  streamsLed(): Promise<string[]>;
}

export interface NatsCluster {
  readonly nodes: readonly NatsClusterNode[];
  /** The URLs of all nodes, for `MILLRACE_NATS_URL` (joined by commas) or `connect`. */
  readonly urls: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly sysUser: string;
  readonly sysPassword: string;
  /** The routes between the nodes, if they can be partitioned. */
  readonly routes: NatsRoutes | undefined;
  /** The disk of the last node, if it can be filled. */
  readonly disk: SmallDisk | undefined;
  /** Ends all nodes and removes their stores. */
  stop(): Promise<void>;
}

/** Settings in place of those in `infra/nats`. */
interface ClusterSettings {
  /** A folder with files of the same names. */
  readonly conf?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The credentials of the test's own connection. */
  readonly signIn?: Partial<ConnectionOptions>;
  /** The host name of the nodes, if their certificates are checked for one. */
  readonly host?: string;
  /** Makes the nodes partitionable, and gives the last one a disk that can be filled if the test runs as root. */
  readonly canSuffer?: boolean;
  /** A directory of streams for each node; by default below the cluster's directory. */
  readonly stores?: readonly string[];
}

/** Starts the nodes and waits until JetStream has a leader and every node is healthy. */
export async function startNatsCluster(
  binary: string,
  { conf = 'infra/nats', env = {}, signIn, host = '127.0.0.1', canSuffer = false, stores: given }: ClusterSettings = {},
): Promise<NatsCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-cluster-'));
  const ports: number[] = [];
  while (ports.length < NODES.length * 3) ports.push(await freePort());
  const port = (group: number, node: number): number => ports[group * NODES.length + node - 1]!;
  const routes = canSuffer ? await NatsRoutes.start(NODES.map((node) => port(1, node))) : undefined;
  const routePort = (node: number): number => routes?.portOf(node - 1) ?? port(1, node);
  const addresses = NODES.map((node) => [`NATS_ROUTE_${node}`, `nats://route:routesecret@${host}:${routePort(node)}`]);
  const stores = NODES.map((node) => given?.[node - 1] ?? join(dir, `store-${node}`));
  const disk = canSuffer ? await diskAt(join(dir, 'disk')) : undefined;
  if (disk !== undefined) stores[NODES.length - 1] = join(disk.path, 'store');
  const secrets = {
    NATS_SYS_USER: 'sys',
    NATS_SYS_PASSWORD: 'syssecret',
    NATS_APP_USER: 'app',
    NATS_APP_PASSWORD: 'appsecret',
    NATS_CLUSTER_USER: 'route',
    NATS_CLUSTER_PASSWORD: 'routesecret',
    ...Object.fromEntries(addresses),
  };
  const nodes = NODES.map((node) =>
    makeNode({
      binary,
      number: node,
      conf,
      url: `nats://${host}:${port(0, node)}`,
      monitorUrl: `http://127.0.0.1:${port(2, node)}`,
      logPath: join(dir, `nats-${node}.log`),
      args: canSuffer ? ['--cluster_advertise', `127.0.0.1:${routePort(node)}`] : [],
      env: {
        ...secrets,
        ...env,
        NATS_LISTEN: `127.0.0.1:${port(0, node)}`,
        NATS_CLUSTER_LISTEN: `127.0.0.1:${port(1, node)}`,
        NATS_MONITOR_LISTEN: `127.0.0.1:${port(2, node)}`,
        NATS_STORE_DIR: stores[node - 1] as string,
      },
    }),
  );
  const cluster: NatsCluster = {
    nodes,
    urls: nodes.map(({ url }) => url),
    user: secrets.NATS_APP_USER,
    password: secrets.NATS_APP_PASSWORD,
    sysUser: secrets.NATS_SYS_USER,
    sysPassword: secrets.NATS_SYS_PASSWORD,
    routes,
    disk,
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
      routes?.close();
      disk?.unmount();
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    for (const node of nodes) node.start();
    await eventually(() => expectFormed(cluster, signIn), { timeoutMs: FORMING_TIMEOUT_MS, everyMs: 50 });
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

async function diskAt(dir: string): Promise<SmallDisk | undefined> {
  await mkdir(dir);
  return SmallDisk.mounted(dir);
}

interface NodeFacts {
  readonly binary: string;
  readonly number: number;
  readonly conf: string;
  readonly url: string;
  readonly monitorUrl: string;
  readonly logPath: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

function makeNode(facts: NodeFacts): NatsClusterNode {
  let child: ChildProcess | undefined;
  const isGone = (): boolean => child === undefined || child.exitCode !== null || child.signalCode !== null;
  const ended = (): Promise<void> =>
    isGone() ? Promise.resolve() : new Promise((done) => child?.once('exit', () => done()));
  const signalled = (signal: NodeJS.Signals): Promise<void> => {
    const end = ended();
    child?.kill(signal);
    return end;
  };
  const name = `millrace-nats-${facts.number}`;
  return {
    name,
    url: facts.url,
    storeDir: facts.env.NATS_STORE_DIR as string,
    get pid() {
      return child?.pid ?? 0;
    },
    kill: () => signalled('SIGKILL'),
    end: () => signalled('SIGTERM'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    reload: () => void child?.kill('SIGHUP'),
    log: () => readFile(facts.logPath, 'utf8'),
    start() {
      if (!isGone()) throw new Error(`node ${facts.number} runs already`);
      const config = resolve(facts.conf, `node-${facts.number}.conf`);
      const args = ['--pdeathsig', 'KILL', resolve(facts.binary), '-c', config, '-l', facts.logPath, ...facts.args];
      child = spawn('setpriv', args, { env: { PATH: process.env.PATH ?? '', ...facts.env }, stdio: 'ignore' });
      child.once('error', (error) => console.error(`nats-server ${facts.number}: ${error.message}`));
    },
    async expectHealthy() {
      const answer = await fetch(`${facts.monitorUrl}/healthz`, { signal: AbortSignal.timeout(1000) });
      if (!answer.ok) throw new Error(`node ${facts.number}: ${await answer.text()}; its log is ${facts.logPath}`);
    },
    async expectLed() {
      const answer = await fetch(`${facts.monitorUrl}/jsz`, { signal: AbortSignal.timeout(1000) });
      const { meta_cluster: cluster } = (await answer.json()) as { meta_cluster?: { leader?: string } };
      if (!cluster?.leader) throw new Error(`node ${facts.number} knows of no leader`);
    },
    async streams() {
      const url = `${facts.monitorUrl}/jsz?streams=true&raft=true`;
      return (await fetch(url, { signal: AbortSignal.timeout(1000) })).json();
    },
    async streamsLed() {
      const answer = await fetch(`${facts.monitorUrl}/jsz?streams=true`, { signal: AbortSignal.timeout(1000) });
      const { account_details: accounts = [] } = (await answer.json()) as { account_details?: StreamsOfAccount[] };
      const streams = accounts.flatMap(({ stream_detail: all = [] }) => all);
      return streams.filter(({ cluster }) => cluster?.leader === name).map((stream) => stream.name);
    },
  };
}

/** A part of the answer of `/jsz`. */
interface StreamsOfAccount {
  readonly stream_detail?: readonly { readonly name: string; readonly cluster?: { readonly leader?: string } }[];
}

async function expectFormed(
  { nodes, urls, user, password }: NatsCluster,
  signIn: Partial<ConnectionOptions> = { user, pass: password },
): Promise<void> {
  await Promise.all(nodes.map((node) => node.expectHealthy()));
  const connection = await connect({ servers: [...urls], ...signIn, reconnect: false, timeout: 1000 });
  try {
    await (await jetstreamManager(connection, { timeout: 1000 })).getAccountInfo();
  } finally {
    await connection.close();
  }
}
