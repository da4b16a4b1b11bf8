/**
 * Rows of buckets in all resolutions. The latest rows are cached, because most additions go to them; call `forget`
 * after a failed transaction.
 */

import { stepOf } from '../../domain/statistics/index.js';
import { BoundedCache } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import { Bucket, decodeBucket, encodeBucket } from './bucket.js';
import type { Delta } from './deltas.js';
import { RESOLUTIONS, type Resolution } from './resolutions.js';

/** About a hundred bytes each. */
const MAX_REMEMBERED = 20_000;

interface Newest {
  readonly atMs: number;
  readonly bucket: Bucket;
}

export class BucketRows {
  readonly #sql: Prepared<typeof STATEMENTS>;
  /** The newest row by subject and resolution. */
  readonly #newest = new BoundedCache<number, Newest>(MAX_REMEMBERED);

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /** Adds a minute to its row in each resolution, unless that row would already be expired. */
  add(subject: number, delta: Delta, nowMs: number): void {
    for (const resolution of RESOLUTIONS) {
      const atMs = stepOf(delta.minuteMs, resolution.stepMs);
      if (atMs + resolution.stepMs <= nowMs - resolution.keepMs) continue;
      const bucket = this.#row(subject, resolution, atMs) ?? new Bucket([], new Map(), [...delta.carried]);
      bucket.merge(delta);
      this.#sql.write.run([subject, resolution.id, atMs, encodeBucket(bucket)]);
      this.#remember(subject, resolution, { atMs, bucket });
    }
  }

  /** In order of time. */
  *between(
    subject: number,
    { id }: Resolution,
    fromMs: number,
    toMs: number,
  ): IterableIterator<readonly [atMs: number, bucket: Bucket]> {
    for (const row of this.#sql.between.all([subject, id, fromMs, toMs])) {
      yield [row.at_ms as number, decodeBucket(row.data as Uint8Array)];
    }
  }

  /** The last row before an instant. */
  before(subject: number, { id }: Resolution, beforeMs: number): Bucket | undefined {
    const row = this.#sql.before.get([subject, id, beforeMs]);
    return row && decodeBucket(row.data as Uint8Array);
  }

  /**
   * Removes expired rows.
   * @returns rows removed
   */
  prune(subject: number, nowMs: number): number {
    let removed = 0;
    for (const { id, stepMs, keepMs } of RESOLUTIONS) {
      removed += this.#sql.prune.run([subject, id, nowMs - keepMs - stepMs]);
    }
    return removed;
  }

  forget(): void {
    this.#newest.clear();
  }

  #row(subject: number, resolution: Resolution, atMs: number): Bucket | undefined {
    const known = this.#newest.get(keyOf(subject, resolution));
    if (known?.atMs === atMs) return known.bucket;
    const row = this.#sql.read.get([subject, resolution.id, atMs]);
    return row && decodeBucket(row.data as Uint8Array);
  }

  #remember(subject: number, resolution: Resolution, row: Newest): void {
    const key = keyOf(subject, resolution);
    const known = this.#newest.get(key);
    if (known !== undefined && known.atMs > row.atMs) return;
    this.#newest.set(key, row);
  }
}

function keyOf(subject: number, { id }: Resolution): number {
  return subject * 8 + id;
}

const STATEMENTS = {
  read: 'SELECT data FROM buckets WHERE subject = ? AND resolution = ? AND at_ms = ?',
  write: 'INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?)',
  between: `SELECT at_ms, data FROM buckets WHERE subject = ? AND resolution = ? AND at_ms >= ? AND at_ms < ?
    ORDER BY at_ms`,
  before: `SELECT data FROM buckets WHERE subject = ? AND resolution = ? AND at_ms < ? ORDER BY at_ms DESC LIMIT 1`,
  prune: 'DELETE FROM buckets WHERE subject = ? AND resolution = ? AND at_ms <= ?',
} as const;
