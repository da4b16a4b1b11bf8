/**
 * Numbers of databases, accounts and search indexes, and the number of DLQ entries of each account. Caches of this
 * object are valid only after successful transactions; call `forget` after a failed one.
 */
import { BoundedCache, getOrCreate } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import { KINDS, type SubjectKind } from './metrics.js';

const MAX_REMEMBERED = 50_000;

export class Subjects {
  readonly #ids = new BoundedCache<string, number>(MAX_REMEMBERED);
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /** Creates a missing subject. */
  idOf(kind: SubjectKind, name: string): number {
    const found = () => this.find(kind, name) ?? this.#sql.add.insert([KINDS[kind], name]);
    return getOrCreate(this.#ids, `${kind} ${name}`, found);
  }

  find(kind: SubjectKind, name: string): number | undefined {
    return this.#sql.find.get([KINDS[kind], name])?.id as number | undefined;
  }

  dlqOf(id: number): number {
    return Math.max(0, (this.#sql.dlq.get([id])?.dlq as number | undefined) ?? 0);
  }

  setDlq(id: number, count: number): void {
    this.#sql.setDlq.run([count, id]);
  }

  growDlq(id: number, by: number): void {
    this.#sql.growDlq.run([by, id]);
  }

  /** In order. */
  after(id: number, count: number): number[] {
    return this.#sql.after.all([id, count]).map((row) => row.id as number);
  }

  forget(): void {
    this.#ids.clear();
  }
}

const STATEMENTS = {
  find: 'SELECT id FROM subjects WHERE kind = ? AND name = ?',
  add: 'INSERT INTO subjects (kind, name) VALUES (?, ?)',
  dlq: 'SELECT dlq FROM subjects WHERE id = ?',
  setDlq: 'UPDATE subjects SET dlq = ? WHERE id = ?',
  growDlq: 'UPDATE subjects SET dlq = dlq + ? WHERE id = ?',
  after: 'SELECT id FROM subjects WHERE id > ? ORDER BY id LIMIT ?',
} as const;
