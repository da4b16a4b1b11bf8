/**
 * The progress of an import, in a file from which a later import continues. It is written at intervals, and removed
 * at the end.
 */
import { rm } from 'node:fs/promises';
import { PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../../adapters/node/index.js';
import { MillraceError } from '../../kernel/index.js';

/** Work after the last write is repeated, which changes no keys. */
const WRITE_EVERY_MS = 1000;

export class ImportState {
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #next: string | undefined;

  /** @param path undefined: progress is not stored */
  constructor(
    private readonly path: string | undefined,
    /** Identifies the source. */
    private readonly identity: string,
    private readonly nowMs: () => number,
  ) {}

  /**
   * The cursor to continue from. @throws CONFLICT if the file belongs to another source; BAD_CONFIG if it has another
   * format
   */
  async read(): Promise<string | undefined> {
    if (this.path === undefined) return undefined;
    const bytes = await readFileIfThere(this.path);
    if (bytes === undefined) return undefined;
    const state = parsed(bytes.toString('utf8'));
    if (state === undefined) throw new MillraceError('BAD_CONFIG', `${this.path} is not the state file of an import`);
    if (state.source !== this.identity) {
      throw new MillraceError('CONFLICT', `${this.path} belongs to another source: ${state.source}`);
    }
    return state.next;
  }

  async reached(next: string): Promise<void> {
    this.#next = next;
    if (this.nowMs() - this.#writtenAtMs >= WRITE_EVERY_MS) await this.write();
  }

  /** Writes the last reached cursor. */
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
