/** The alternative that also syncs before it answers: webdis in front of a redis-server with `appendfsync always`. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, freePort, until } from './child.js';
import { RedisServer } from './redis.js';

const START_TIMEOUT_MS = 10_000;
/** Its default is 4 threads with 20 connections each. */
const THREADS = 2;
const CONNECTIONS = 20;

export class Webdis {
  private constructor(
    readonly url: string,
    private readonly directory: string,
    private readonly webdis: Child,
    private readonly redis: RedisServer,
  ) {}

  /** The programs that are missing; empty when it can be started. */
  static missing(): readonly string[] {
    return ['redis-server', 'webdis'].filter((program) => spawnSync('which', [program]).status !== 0);
  }

  static async start(): Promise<Webdis> {
    const directory = await mkdtemp(join(tmpdir(), 'webdis-bench-'));
    const redis = await RedisServer.start();
    const port = await freePort();
    const config = join(directory, 'webdis.json');
    await writeFile(
      config,
      JSON.stringify({
        redis_host: '127.0.0.1',
        redis_port: redis.port,
        http_host: '127.0.0.1',
        http_port: port,
        threads: THREADS,
        pool_size: CONNECTIONS,
        daemonize: false,
        websockets: false,
        database: 0,
        verbosity: 1,
        logfile: join(directory, 'webdis.log'),
      }),
    );
    const webdis = await Child.start('webdis', [config]);
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/PING`)).ok, START_TIMEOUT_MS, 'webdis');
    return new Webdis(url, directory, webdis, redis);
  }

  async dispose(): Promise<void> {
    await this.webdis.stop();
    await this.redis.dispose();
    await rm(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
