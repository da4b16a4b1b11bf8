/** How far an import is, in a file that a later one goes on from. It is written now and then, and gone when all is done. */
import { rm } from 'node:fs/promises';
import { PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../../adapters/node/index.js';
import { MillraceError } from '../../kernel/index.js';

/** What lies between two writes is done again, which changes nothing. */
const WRITE_EVERY_MS = 1000;

export class ImportState {
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #next: string | undefined;

  /** @param path undefined: nothing is kept */
  constructor(
    private readonly path: string | undefined,
    /** Of the source. */
    private readonly identity: string,
    private readonly nowMs: () => number,
  ) {}

  /** Where to go on. @throws CONFLICT, when the file is of another source; BAD_CONFIG, when it is none of ours */
  async read(): Promise<string | undefined> {
    if (this.path === undefined) return undefined;
    const bytes = await readFileIfThere(this.path);
    if (bytes === undefined) return undefined;
    const state = parsed(bytes.toString('utf8'));
    if (state === undefined) throw new MillraceError('BAD_CONFIG', `${this.path} is no state of an import`);
    if (state.source !== this.identity) {
      throw new MillraceError('CONFLICT', `${this.path} is of another source: ${state.source}`);
    }
    return state.next;
  }

  async reached(next: string): Promise<void> {
    this.#next = next;
    if (this.nowMs() - this.#writtenAtMs >= WRITE_EVERY_MS) await this.write();
  }

  /** Of what was reached last. */
  async write(): Promise<void> {
    if (this.path === undefined || this.#next === undefined) return;
    this.#writtenAtMs = this.nowMs();
    const state = { source: this.identity, next: this.#next };
    await writeFileAtomic(this.path, `${JSON.stringify(state)}\n`, PRIVATE_FILE);
  }

  async end(): Promise<void> {
    if (this.path !== undefined) await rm(this.path, { force: true });
  }
}

function parsed(text: string): { source: string; next: string } | undefined {
  try {
    const { source, next } = JSON.parse(text) as Record<string, unknown>;
    return typeof source === 'string' && typeof next === 'string' ? { source, next } : undefined;
  } catch {
    return undefined;
  }
}
