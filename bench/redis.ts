/** A redis-server in its own directory. By default it stores before it answers, as our process does. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, freePort } from './child.js';
import { RespLink } from './resp-link.js';
import { ADDED_US, withSlowSyncs } from './slow-syncs.js';

export class RedisServer {
  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly child: Child,
  ) {}

  static isMissing(): boolean {
    return spawnSync('which', ['redis-server']).status !== 0;
  }

  /**
   * @param sync when appended data is synced; a server without the option uses `everysec`
   * @param addedUs added to the time of each sync
   */
  static async start(sync: 'always' | 'everysec' = 'always', addedUs = ADDED_US): Promise<RedisServer> {
    const directory = await mkdtemp(join(tmpdir(), 'redis-bench-'));
    const port = await freePort();
    const settings = {
      port: `${port}`,
      bind: '127.0.0.1',
      dir: directory,
      save: '',
      appendonly: 'yes',
      appendfsync: sync,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const [command, ...words] = withSlowSyncs(addedUs, ['redis-server', ...args]) as [string, ...string[]];
    const child = await Child.start(command, words, { readyWhen: /Ready to accept connections/ });
    return new RedisServer(port, directory, child);
  }

  get pid(): number {
    return this.child.process.pid as number;
  }

  /** Memory that the server has allocated, in bytes. */
  async usedMemory(): Promise<number> {
    const link = await RespLink.open(this.port);
    try {
      const text = String(await link.ask('INFO', 'memory'));
      return Number(/^used_memory:(\d+)/m.exec(text)?.[1]);
    } finally {
      link.close();
    }
  }

  async dispose(): Promise<void> {
    await this.child.stop();
    await rm(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Processor time of a process's main thread so far, milliseconds; 0 where the kernel does not tell. */
export async function ranMs(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const statistics = await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').catch(() => '0');
  return Number(statistics.split(' ')[0]) / 1e6;
}
