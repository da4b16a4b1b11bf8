/**
 * The bytes of each part of an installation, as metrics: measured at intervals and read from memory.
 * docs/operations/disk.md describes the contents of each part and when it shrinks.
 *
 *  DU1 parts in streams are of the whole installation and the same at every process; the others are of this process's
 *      data directory
 */
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { describeError } from '../../kernel/index.js';
import type { Log, Metrics, Timer, Timers } from '../../ports/index.js';
import { folderSizes } from './folder-sizes.js';

/** Names of parts are API for monitoring. */
const STREAM_PARTS = [
  [/^KV_\d+$/, 'journals-kv'],
  [/^QUEUE_\d+$/, 'journals-queue'],
  [/^CONTROL$/, 'journal-control'],
  [/^INTAKE_\d+$/, 'intakes'],
  [/^METER$/, 'meter'],
  [/^(leases|layout)$/, 'leases'],
  [/^snapshots$/, 'objects'],
] as const;
const FILE_PARTS = [
  [/^nats\/store\//, 'jetstream-files'],
  [/^nats\/nats\.log/, 'server-log'],
  [/^read-models\/messages\.db/, 'message-log'],
  [/^read-models\/stats\.db/, 'statistics'],
  [/^/, 'other'],
] as const;
const JOURNALS = ['journals-kv', 'journals-queue', 'journal-control'] as const;

export interface DiskUsageParts {
  readonly dataDir: string;
  /** Bytes of streams by their names without prefix. */
  streamSizes(): Promise<ReadonlyMap<string, number>>;
  readonly total: { readonly bytes: number };
  readonly metrics: Metrics;
  readonly timers: Timers;
  readonly log: Log;
}

/** A measurement reads a few hundred files and sends one request. */
const EVERY_MS = 30_000;

export class DiskUsage {
  #bytes: ReadonlyMap<string, number> = new Map();
  /** Undefined without a data directory. */
  #fileSystem: StatsFs | undefined;
  #timer: Timer | undefined;
  #gauges: { stop(): void }[] = [];
  #isStopped = false;
  #hasFailed = false;

  constructor(private readonly parts: DiskUsageParts) {}

  /** Resolves after the first measurement. */
  async start(): Promise<void> {
    const { metrics, total } = this.parts;
    for (const [, part] of [...STREAM_PARTS, ...FILE_PARTS]) {
      this.#gauges.push(metrics.gauge('millrace_disk_bytes', () => this.#bytes.get(part) ?? 0, part));
    }
    this.#gauges.push(
      metrics.gauge(
        'millrace_disk_free_bytes',
        () => this.#fileSystem && this.#fileSystem.bavail * this.#fileSystem.bsize,
      ),
      metrics.gauge(
        'millrace_disk_size_bytes',
        () => this.#fileSystem && this.#fileSystem.blocks * this.#fileSystem.bsize,
      ),
      metrics.gauge('millrace_journal_total_bytes', () => total.bytes),
      metrics.gauge('millrace_journal_excess_bytes', () => this.#excess),
    );
    await this.#look();
    if (!this.#isStopped) this.#timer = this.parts.timers.every(EVERY_MS, () => this.#look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const gauge of this.#gauges) gauge.stop();
  }

  async #look(): Promise<void> {
    try {
      this.#fileSystem = await statfs(this.parts.dataDir).catch(() => undefined);
      this.#bytes = await measure(this.parts);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.parts.log.warn('disk.not-measured', { cause: describeError(error) });
      this.#hasFailed = true;
    }
  }

  get #excess(): number {
    const held = JOURNALS.reduce((sum, part) => sum + (this.#bytes.get(part) ?? 0), 0);
    return Math.max(0, held - this.parts.total.bytes);
  }
}

/** Bytes by part. @throws JOURNAL_UNAVAILABLE, or the error of the file system */
export async function measure({
  dataDir,
  streamSizes,
}: Pick<DiskUsageParts, 'dataDir' | 'streamSizes'>): Promise<Map<string, number>> {
  const bytes = await folderSizes(dataDir, (path) => partOf(FILE_PARTS, path));
  for (const [stream, size] of await streamSizes()) {
    const part = partOf(STREAM_PARTS, stream);
    bytes.set(part, (bytes.get(part) ?? 0) + size);
  }
  return bytes;
}

function partOf(parts: readonly (readonly [RegExp, string])[], name: string): string {
  return parts.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}
