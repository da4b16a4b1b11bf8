/**
 * A disk of a test that can lose its power: an ext4 file system on a loop device, which keeps only the bytes that
 * were synced. It is mounted in the namespace of a helper process and is gone with it, however a test ends.
 *
 * The journal of the file system is committed every ten minutes, so only a sync writes to the device; the kernel
 * writes changed pages back by itself after 30 s, and a round of a test is shorter. Syncs of the device reach the
 * file below it, so a copy of that file is the disk after a loss of power. `probe` shows for each round that other
 * bytes are lost.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

const SIZE = '1G';
const COMMIT_SECONDS = 600;
const PROBE_BYTES = 4096;

export class PowerDisk {
  #round = 0;

  private constructor(
    private readonly dir: string,
    private holder: ChildProcess,
  ) {}

  /**
   * @param dir a path that does not exist @returns undefined if no loop device can be mounted, because that needs
   * root
   */
  static async mounted(dir: string): Promise<PowerDisk | undefined> {
    if (process.getuid?.() !== 0 || !existsSync('/dev/loop-control')) return undefined;
    await mkdir(join(dir, 'mount'), { recursive: true });
    const image = join(dir, 'image-0');
    run('truncate', ['-s', SIZE, image]);
    run('mkfs.ext4', ['-q', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1', image]);
    const holder = await mount(dir, image);
    if (holder === undefined) return undefined;
    const disk = new PowerDisk(dir, holder);
    await disk.#link();
    await disk.#write('old', 'old');
    run('sync', ['-f', disk.#in('old')]);
    return disk;
  }

  /** The path of the file system, unchanged by a loss of power. */
  get path(): string {
    return join(this.dir, 'disk');
  }

  /** Writes bytes without a sync, into a new file and into one that is stored. */
  async probe(): Promise<void> {
    await this.#write('old', 'new');
    await this.#write(`probe-${this.#round}`, 'new');
  }

  /**
   * The disk has only the bytes that were synced. No process writes to it during the copy.
   * @param endProcesses ends the processes with open files, before the disk is mounted again
   */
  async losePower(endProcesses: () => Promise<void>): Promise<void> {
    const [before, after] = [this.#image(this.#round), this.#image(this.#round + 1)];
    run('cp', ['--sparse=always', before, after]);
    await endProcesses();
    await this.unmount();
    await rm(before);
    const holder = await mount(this.dir, after);
    if (holder === undefined) throw new Error('the copy of the disk cannot be mounted');
    this.holder = holder;
    await this.#link();
    expect(await this.#read('old'), 'the overwritten bytes that were not synced').to.equal('old');
    expect(await this.#read(`probe-${this.#round}`), 'the new file that was not synced').to.equal('');
    this.#round += 1;
  }

  async unmount(): Promise<void> {
    if (this.holder.exitCode !== null || this.holder.signalCode !== null) return;
    const gone = new Promise((resolve) => this.holder.once('exit', resolve));
    this.holder.kill('SIGKILL');
    await gone;
  }

  async #link(): Promise<void> {
    await rm(this.path, { force: true });
    await symlink(`/proc/${this.holder.pid}/root${join(this.dir, 'mount')}`, this.path);
  }

  #image(round: number): string {
    return join(this.dir, `image-${round}`);
  }

  #in(name: string): string {
    return join(this.path, name);
  }

  async #write(name: string, text: string): Promise<void> {
    const file = await open(this.#in(name), existsSync(this.#in(name)) ? 'r+' : 'w');
    try {
      await file.write(text.repeat(PROBE_BYTES));
    } finally {
      await file.close();
    }
  }

  /** The text of a file; empty if it is missing or has no bytes. */
  async #read(name: string): Promise<string> {
    const text = existsSync(this.#in(name)) ? await readFile(this.#in(name), 'latin1') : '';
    return text.replaceAll('\0', '').slice(0, 3);
  }
}

async function mount(dir: string, image: string): Promise<ChildProcess | undefined> {
  const options = `loop,commit=${COMMIT_SECONDS},noatime`;
  const script = `mount -t ext4 -o ${options} '${image}' '${join(dir, 'mount')}' && echo mounted && exec sleep infinity`;
  const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--mount', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const isMounted = await new Promise<boolean>((done) => {
    holder.stdout?.once('data', () => done(true));
    holder.once('error', () => done(false));
    holder.once('exit', () => done(false));
  });
  return isMounted ? holder : undefined;
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
