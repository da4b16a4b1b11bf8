/**
 * A separate file system for a test server, which can be filled. A helper process mounts it in its own mount
 * namespace, and its path leads through the helper's files in /proc. It disappears with the helper, however a test
 * ends.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { eventually } from './eventually.js';

const SIZE = '4g';
/** The free space of the full disk, less than the entries of a load need in a short time. */
const LEFT_BYTES = 64 * 1024;

export class SmallDisk {
  private constructor(
    private readonly holder: ChildProcess,
    private readonly dir: string,
  ) {}

  /** @param dir an existing directory @returns undefined if mounting is not permitted, because it needs root */
  static async mounted(dir: string): Promise<SmallDisk | undefined> {
    const script = `mount -t tmpfs -o size=${SIZE} disk '${dir}' && echo mounted && exec sleep infinity`;
    const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--mount', 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const isMounted = await new Promise<boolean>((done) => {
      holder.stdout?.once('data', () => done(true));
      holder.once('error', () => done(false));
      holder.once('exit', () => done(false));
    });
    return isMounted ? new SmallDisk(holder, dir) : undefined;
  }

  /** The path of the mounted file system. */
  get path(): string {
    return `/proc/${this.holder.pid}/root${this.dir}`;
  }

  /** Fills the disk up to the free space that a server writes within a moment. */
  async fill(): Promise<void> {
    await eventually(async () => {
      const { blocks, bfree, bsize } = await statfs(this.path);
      this.#resize(String((blocks - bfree) * bsize + LEFT_BYTES));
    });
  }

  makeRoom(): void {
    this.#resize(SIZE);
  }

  unmount(): void {
    this.holder.kill('SIGKILL');
  }

  #resize(size: string): void {
    const into = ['-t', String(this.holder.pid), '--mount', 'mount', '-o', `remount,size=${size}`, this.dir];
    const { status, stderr } = spawnSync('nsenter', into);
    if (status !== 0) throw new Error(`remount: ${stderr}`);
  }
}
