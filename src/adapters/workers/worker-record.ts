/**
 * `<data dir>/workers.json`: the workers of the running supervisor. A worker that was frozen when its supervisor was killed is
 * still there at the next start; it can own no shard any more, and is ended, so that it keeps neither memory nor files.
 */
import { join } from 'node:path';
import { identifyProcess, isSameProcess, type ProcessIdentity } from '../nats/embedded/process-identity.js';
import { PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../node/index.js';

const FILE = 'workers.json';

export class WorkerRecord {
  readonly #path: string;
  readonly #running = new Map<number, ProcessIdentity>();
  #last: Promise<void>;

  /** @param locked  resolves when this process has the directory; until then the file belongs to an earlier supervisor */
  constructor(dataDir: string, locked: Promise<unknown>) {
    this.#path = join(dataDir, FILE);
    this.#last = locked.then(() => this.#endEarlier());
    this.#last.catch(() => undefined);
  }

  async began(pid: number): Promise<void> {
    const identity = await identifyProcess(pid);
    if (identity === undefined) return;
    this.#running.set(pid, identity);
    await this.#write();
  }

  async ended(pid: number): Promise<void> {
    if (this.#running.delete(pid)) await this.#write();
  }

  #write(): Promise<void> {
    this.#last = this.#last.then(() =>
      writeFileAtomic(this.#path, JSON.stringify([...this.#running.values()]), PRIVATE_FILE),
    );
    return this.#last;
  }

  async #endEarlier(): Promise<void> {
    const found = await readFileIfThere(this.#path);
    for (const identity of found === undefined ? [] : (JSON.parse(found.toString()) as ProcessIdentity[])) {
      if (await isSameProcess(identity)) kill(identity.pid);
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It may have ended in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
