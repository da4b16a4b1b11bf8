/**
 * A ledger of acknowledged writes: a process that no test kills writes over REST and keeps a synced record of the
 * answers. The content of the store is compared with the record.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';
import type { KvClient } from './kv-client.js';
import { judge, keysOf, UnknownMemory } from './ledger-judge.js';
import { type LedgerOperation, parseLedger } from './ledger-operations.js';
import type { WriterSettings } from './ledger-writer.js';

const WRITER = fileURLToPath(new URL('./ledger-writer.js', import.meta.url));

export type LedgerOptions = Pick<WriterSettings, 'urls' | 'token' | 'seed'> & {
  /** The directory of the record. */
  readonly dir: string;
} & Partial<Pick<WriterSettings, 'workers' | 'paceMs' | 'timeoutMs'>>;

export interface LedgerCounts {
  readonly acked: number;
  readonly failed: number;
  readonly unknown: number;
}

const READABLE_TIMEOUT_MS = 20_000;
const KEYS_AT_ONCE = 500;

const writers = new Set<ChildProcess>();

/** Ends all writers, for `after` hooks. */
export function endLedgers(): void {
  for (const writer of writers) writer.kill('SIGKILL');
  writers.clear();
}

export class Ledger {
  readonly #memory = new UnknownMemory();
  #settledIds = new Set<number>();
  #readBytes = 0;
  #acked = 0;

  private constructor(
    private readonly file: string,
    private readonly writer: ChildProcess,
  ) {}

  static async start(options: LedgerOptions): Promise<Ledger> {
    const { dir, urls, token, seed, workers = 6, paceMs = 4, timeoutMs = 15_000 } = options;
    const file = join(dir, 'ledger.ndjson');
    const settings: WriterSettings = { file, urls, token, workers, seed, paceMs, timeoutMs };
    const writer = fork(WRITER, [JSON.stringify(settings)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    writers.add(writer);
    writer.once('exit', () => writers.delete(writer));
    await new Promise<void>((started, failed) => {
      writer.once('message', () => started());
      writer.once('exit', (code) => failed(new Error(`the ledger's writer ended with ${code}`)));
    });
    return new Ledger(file, writer);
  }

  /** Stops the writer after the answers of all open requests. */
  async stop(): Promise<void> {
    if (this.writer.exitCode !== null || this.writer.signalCode !== null) return;
    const ended = new Promise((done) => this.writer.once('exit', done));
    this.writer.send('stop');
    await ended;
  }

  async operations(): Promise<LedgerOperation[]> {
    return parseLedger(await readFile(this.file, 'utf8'));
  }

  async counts(): Promise<LedgerCounts> {
    const operations = await this.operations();
    const count = (is: LedgerOperation['is']) => operations.filter((operation) => operation.is === is).length;
    return { acked: count('acked'), failed: count('failed'), unknown: count('unknown') };
  }

  /** The number of acknowledged operations. Each call reads only the new lines of the record. */
  async ackedSoFar(): Promise<number> {
    const file = await open(this.file);
    try {
      const { size } = await file.stat();
      const { buffer } = await file.read(
        Buffer.alloc(size - this.#readBytes),
        0,
        size - this.#readBytes,
        this.#readBytes,
      );
      const whole = buffer.subarray(0, buffer.lastIndexOf('\n') + 1).toString('latin1');
      this.#readBytes += whole.length;
      this.#acked += whole.split('{"is":"acked"').length - 1;
      return this.#acked;
    } finally {
      await file.close();
    }
  }

  /** Resolves when `more` further operations have been acknowledged. */
  async progress(more: number, timeoutMs = 30_000): Promise<void> {
    const due = (await this.ackedSoFar()) + more;
    const missing = async (): Promise<number> => due - (await this.ackedSoFar());
    try {
      await eventually(
        async () => {
          if ((await missing()) > 0) throw new Error('not yet');
        },
        { timeoutMs, everyMs: 50 },
      );
    } catch (cause) {
      const last = (await readFile(this.file, 'utf8')).slice(-1000);
      throw new Error(`${await missing()} of ${more} operations are still not acknowledged, the last were\n${last}`, {
        cause,
      });
    }
  }

  /** Call this when no process is left that could execute an operation of unknown outcome. */
  async settleUnknown(): Promise<void> {
    const operations = await this.operations();
    const unknown = operations.filter(({ is }) => is === 'unknown');
    // An operation without an outcome line may have been sent only to the successor.
    this.#settledIds = new Set(
      unknown
        .filter((operation) => operation.is === 'unknown' && operation.why !== 'no answer yet')
        .map(({ id }) => id),
    );
  }

  /**
   * Checks all operations that were recorded before the call against the values that each reader finds.
   * @param newest the number of latest operations to check; all by default
   * @throws an Error with all violations
   */
  async check(readers: readonly KvClient[], { newest }: { newest?: number } = {}): Promise<LedgerCounts> {
    const all = await this.operations();
    const operations = newest === undefined ? all : all.slice(-newest);
    const settled = operations.filter(({ id }) => this.#settledIds.has(id));
    const violations = await Promise.all(readers.map((reader) => this.#violations(operations, settled, reader)));
    if (violations.flat().length > 0) {
      throw new Error(`the ledger and the store differ (${this.file}):\n  ${violations.flat().join('\n  ')}`);
    }
    const count = (is: LedgerOperation['is']) => all.filter((operation) => operation.is === is).length;
    return { acked: count('acked'), failed: count('failed'), unknown: count('unknown') };
  }

  async #violations(
    operations: readonly LedgerOperation[],
    settled: readonly LedgerOperation[],
    reader: KvClient,
  ): Promise<string[]> {
    // Keys with repeated writes are checked only after the writer has stopped.
    const isDone = this.writer.exitCode !== null;
    const keys = keysOf(operations).filter((key) => isDone || key.startsWith('put:'));
    const values: (string | null)[] = [];
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      const some = keys.slice(at, at + KEYS_AT_ONCE);
      // A starting server may refuse reads for some time; its actual answers count.
      values.push(...(await eventually(() => reader.values(some), { timeoutMs: READABLE_TIMEOUT_MS, everyMs: 100 })));
    }
    const state = new Map(keys.map((key, index) => [key, values[index] as string | null]));
    return [...judge(operations, state), ...this.#memory.compare(settled, state)];
  }
}
