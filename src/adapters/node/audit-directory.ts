/** The files of the audit log in a directory: `audit-2026-11-30.jsonl`, readable by their owner alone. */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../../kernel/index.js';
import type { AuditFiles, NewestLine } from '../../ports/index.js';
import { ensureDirectory, PRIVATE_FILE, syncDirectory } from './files.js';

const NAME = /^audit-(\d{4}-\d{2}-\d{2})\.jsonl$/;
/** The texts of a note are bounded, so a line is far shorter. */
const MAX_LINE_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

export class AuditDirectory implements AuditFiles {
  /** The newest file, and its size after the last write of this process. */
  #known: { day: string; bytes: number } | undefined;

  #lock: { release(): void } | undefined;

  /** @param lock  excludes all other processes from the directory. @throws CONFLICT when one of them has it */
  constructor(
    readonly label: string,
    private readonly lock: () => Promise<{ release(): void }>,
  ) {}

  async newest(): Promise<NewestLine | undefined> {
    await ensureDirectory(this.label);
    this.#lock ??= await this.lock();
    this.#known = undefined;
    for (const day of await this.#days()) {
      const file = await open(this.#pathOf(day), 'r+');
      try {
        const { text, bytes } = await endOf(file, this.#pathOf(day));
        this.#known ??= { day, bytes };
        if (text !== undefined) return { day, text };
      } finally {
        await file.close();
      }
    }
    return undefined;
  }

  async append(day: string, lines: string): Promise<void> {
    const isNew = this.#known?.day !== day;
    const file = await this.#open(day, isNew);
    try {
      const { size } = await file.stat();
      if (!isNew && size !== this.#known?.bytes) throw this.#written();
      await file.writeFile(lines);
      await file.datasync();
      this.#known = { day, bytes: size + Buffer.byteLength(lines) };
    } finally {
      await file.close();
    }
    if (isNew) await syncDirectory(this.label);
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  async #open(day: string, isNew: boolean): Promise<FileHandle> {
    try {
      return await open(this.#pathOf(day), isNew ? 'ax' : 'a', PRIVATE_FILE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw this.#written();
      throw error;
    }
  }

  /** Newest first. */
  async #days(): Promise<readonly string[]> {
    const days = (await readdir(this.label)).flatMap((name) => NAME.exec(name)?.[1] ?? []);
    return days.sort().reverse();
  }

  #pathOf(day: string): string {
    return join(this.label, `audit-${day}.jsonl`);
  }

  #written(): MillraceError {
    return new MillraceError('CONFLICT', `another program has written to ${this.label}`);
  }
}

/** The last line, and the size of the file after the removal of a part of a line (AF1). */
async function endOf(file: FileHandle, path: string): Promise<{ text: string | undefined; bytes: number }> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(Math.min(size, 2 * MAX_LINE_BYTES));
  const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(LINE_FEED, bytesRead - 1) + 1;
  if (end === 0 && size > tail.length) {
    throw new MillraceError('INVALID', `${path} does not end with a line of the audit log`);
  }
  const bytes = size - (tail.length - end);
  if (bytes < size) {
    await file.truncate(bytes);
    await file.datasync();
  }
  if (end === 0) return { text: undefined, bytes };
  const start = end < 2 ? 0 : tail.lastIndexOf(LINE_FEED, end - 2) + 1;
  return { text: tail.toString('utf8', start, end - 1), bytes };
}
