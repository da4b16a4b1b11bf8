/** A real redis-server for one test file, on a Unix socket in its own directory, without persistence. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { RespClient } from './resp-client.js';

export interface RedisServer {
  readonly version: string;
  readonly major: number;
  readonly client: RespClient;
  /** The path of its socket. */
  readonly socket: string;
  stop(): Promise<void>;
}

/** The installed server, and the newer one that infra/fetch-redis.sh unpacks. */
export const REDIS_BINARIES = {
  packaged: '/usr/bin/redis-server',
  newer: join(process.cwd(), '.tools/redis8/run'),
} as const;

/** The version of Debian 12's server, for which known differences are listed. */
const COMPARED = '7.0.';

/** The version a binary reports; undefined if it is missing, does not start, or is a packaged one other than 7.0. */
export function redisVersion(binary: string): string | undefined {
  if (!existsSync(binary)) return undefined;
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  const version = /v=([0-9.]+)/.exec(stdout ?? '')?.[1];
  return binary === REDIS_BINARIES.packaged && !version?.startsWith(COMPARED) ? undefined : version;
}

export async function startRedis(binary: string, options: readonly string[] = []): Promise<RedisServer> {
  const version = redisVersion(binary);
  if (version === undefined) throw new Error(`${binary} does not start`);
  const directory = mkdtempSync(join(tmpdir(), 'millrace-redis-'));
  const socket = join(directory, 's');
  const own = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', directory];
  const child = spawn(binary, [...own, ...options], {
    stdio: 'ignore',
  });
  const client = await eventually(() => RespClient.connect(socket));
  return {
    version,
    major: Number(version.split('.')[0]),
    client,
    socket,
    stop: async () => {
      client.close();
      await ended(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface TcpRedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** A server on a TCP port with a password. */
export async function startTcpRedis(binary: string, password: string): Promise<TcpRedisServer> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'millrace-redis-'));
  const address = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password];
  const child = spawn(binary, [...address, '--save', '', '--dir', directory], { stdio: 'ignore' });
  const client = await eventually(() => RespClient.connect({ port, host: '127.0.0.1' }));
  client.close();
  return {
    port,
    stop: async () => {
      await ended(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
