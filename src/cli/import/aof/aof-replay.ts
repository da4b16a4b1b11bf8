/**
 * Executes an append-only log at an empty destination: first the keys of an RDB file at its beginning, then its
 * commands, many at a time.
 *
 *  AOR1 commands and transactions keep their order; a refused command is listed, and the next one follows
 *  AOR2 a log that ends within a command or a transaction is executed up to that point and reported, as a server
 *       would load it
 */
import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { type ByteString, MillraceError, shownBytes } from '../../../kernel/index.js';
import { EndsTooSoon, FileBytes } from '../file-bytes.js';
import type { ImportReport } from '../import-report.js';
import type { KeyWriter } from '../key-writer.js';
import { isRdb } from '../rdb/rdb-file.js';
import { rdbBatches } from '../rdb/rdb-source.js';
import { type ClientReply, ReplyError } from '../reply-reader.js';
import type { RespLink } from '../resp-link.js';
import { otherDatabase, type SourceBounds } from '../source.js';
import { type AofCommand, readAof } from './aof-file.js';

/** These concern no database, or all. */
const OF_ALL_DATABASES = new Set(['MULTI', 'EXEC', 'FUNCTION', 'FLUSHALL', 'SWAPDB', 'SCRIPT']);

export interface ReplayDeps {
  readonly destination: RespLink;
  readonly writer: KeyWriter;
  readonly report: ImportReport;
  readonly bounds: SourceBounds;
  /** Undefined: the first database; others are reported. */
  readonly database: number | undefined;
  /** Called after this many keys or commands; may wait, or throw to stop. */
  pace(count: number): Promise<void>;
}

export class AofReplay {
  readonly #others = new Map<number, number>();
  #database = 0;
  #isInTransaction = false;
  #waiting: AofCommand[] = [];
  #waitingBytes = 0;
  #file = '';

  constructor(private readonly deps: ReplayDeps) {}

  /** @throws DamagedFile; CONFLICT if the destination is not empty; Error if the connection is lost */
  async run(parts: readonly string[]): Promise<void> {
    const { destination, report } = this.deps;
    if ((await destination.must(['DBSIZE'])) !== 0) {
      throw new MillraceError('CONFLICT', 'the destination is not empty: an append-only log needs an empty database');
    }
    for (const [index, path] of parts.entries()) await this.#replay(path, index === parts.length - 1);
    if (this.#isInTransaction) {
      await destination.must(['DISCARD']);
      report.warn('the log ends within a transaction; that transaction is skipped');
    }
    for (const [number, commands] of this.#others) {
      report.leave(...otherDatabase(number, commands, 'commands'));
    }
  }

  async #replay(path: string, isLast: boolean): Promise<void> {
    const file = openSync(path, 'r');
    this.#file = basename(path);
    this.#database = 0;
    try {
      const input = new FileBytes(file);
      if (isRdb(input.ahead())) await this.#restore(input);
      await this.#carryOut(input, isLast);
    } finally {
      closeSync(file);
    }
  }

  async #carryOut(input: FileBytes, isLast: boolean): Promise<void> {
    try {
      for (const command of readAof(input)) await this.#take(command);
    } catch (error) {
      if (!(error instanceof EndsTooSoon) || !isLast) throw error;
      this.deps.report.warn(`${this.#file} ends within a command at byte ${error.offset}; that command is skipped`);
    }
    await this.#send();
  }

  async #restore(input: FileBytes): Promise<void> {
    const { writer, report, bounds, database, pace } = this.deps;
    for (const { keys, libraries, left } of rdbBatches(input, bounds, database, 0)) {
      for (const [item, reason] of left) report.leave(item, reason);
      for (const library of libraries) await writer.writeLibrary(library);
      await writer.write(keys);
      await pace(keys.length);
    }
  }

  async #take(command: AofCommand): Promise<void> {
    const { words } = command;
    const name = (words[0] as ByteString).toUpperCase();
    if (name === 'SELECT') {
      this.#database = Number(words[1]);
      return;
    }
    if (this.#database !== (this.deps.database ?? 0) && !OF_ALL_DATABASES.has(name)) {
      if (this.deps.database === undefined) {
        this.#others.set(this.#database, (this.#others.get(this.#database) ?? 0) + 1);
      }
      return;
    }
    if (name === 'MULTI') this.#isInTransaction = true;
    if (name === 'EXEC') this.#isInTransaction = false;
    this.#waiting.push(command);
    for (const word of words) this.#waitingBytes += word.length;
    const { batchKeys, batchBytes } = this.deps.bounds;
    if (this.#waiting.length >= batchKeys || this.#waitingBytes >= batchBytes) await this.#send();
  }

  async #send(): Promise<void> {
    const { destination, report, pace } = this.deps;
    const sent = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const replies = await destination.all(sent.map(({ words }) => words));
    for (const [index, reply] of replies.entries()) {
      const refusal = refusalIn(reply);
      if (refusal === undefined) report.counts.taken += 1;
      else report.leave(this.#placeOf(sent[index] as AofCommand), refusal.text);
    }
    report.tell('replaying', { taken: report.counts.taken, left: report.counts.left });
    await pace(sent.length);
  }

  #placeOf({ offset, words }: AofCommand): string {
    const [name = '', key = ''] = words;
    const shown = shownBytes(key);
    return `${name} ${typeof shown === 'string' ? shown : shown.base64} at byte ${offset} of ${this.#file}`;
  }
}

/** The reply of a transaction contains several replies. */
function refusalIn(reply: ClientReply): ReplyError | undefined {
  if (reply instanceof ReplyError) return reply;
  if (!Array.isArray(reply)) return undefined;
  return (reply as readonly ClientReply[]).find((item): item is ReplyError => item instanceof ReplyError);
}
