/**
 * A file system of its own for a server of a test, which can be full. It is mounted in a namespace of a helper's, reached
 * through that one's files, and gone with it: nothing is left behind, however a test ends.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { eventually } from './eventually.js';

const SIZE = '4g';
/** Left when it is full: less than any entry of a load would take for long. */
const LEFT_BYTES = 64 * 1024;

export class SmallDisk {
  private constructor(
    private readonly holder: ChildProcess,
    private readonly dir: string,
  ) {}

  /** @param dir that exists @returns undefined where nothing may be mounted: it takes root */
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

  /** For whoever keeps files on it. */
  get path(): string {
    return `/proc/${this.holder.pid}/root${this.dir}`;
  }

  /** Nothing more goes on it than what a server writes in an instant. */
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
