/** Copies all rows of the statistics to and from snapshots. */

import type { SqlFile, SqlStatement, SqlValue } from '../../ports/index.js';
import {
  STATISTICS_TABLES,
  type StatisticsMark,
  type StatisticsRow,
  type StatisticsTable,
} from '../../protocol/index.js';
import { checkpointIn } from '../checkpoint.js';

/** Rows of one step: about 1 ms. */
const STEP_ROWS = 500;
const NAMES = Object.keys(STATISTICS_TABLES) as StatisticsTable[];

interface Statements {
  readonly first: SqlStatement;
  readonly after: SqlStatement;
  readonly write: SqlStatement;
}

export class StatsTables {
  readonly #statements: ReadonlyMap<StatisticsTable, Statements>;
  readonly #marks: SqlStatement;

  constructor(private readonly file: SqlFile) {
    this.#statements = new Map(NAMES.map((table) => [table, statementsOf(file, table)]));
    this.#marks = file.prepare('SELECT * FROM shards');
  }

  /** All rows, in steps; the file must not change during the iteration. */
  *rows(): Generator<{ readonly table: StatisticsTable; readonly rows: readonly StatisticsRow[] }> {
    for (const [table, { first, after }] of this.#statements) {
      const keys = STATISTICS_TABLES[table].key.length;
      let last: StatisticsRow | undefined;
      do {
        const found = last === undefined ? first.all([]) : after.all(last.slice(0, keys) as SqlValue[]);
        const rows = found.map((row) => Object.values(row) as StatisticsRow);
        if (rows.length > 0) yield { table, rows };
        last = rows.length === STEP_ROWS ? rows.at(-1) : undefined;
      } while (last !== undefined);
    }
  }

  marks(): StatisticsMark[] {
    return this.#marks.all([]).map((row) => ({
      shard: row.shard as StatisticsMark['shard'],
      ...checkpointIn(row),
      dlqFrom: row.dlq_from as number,
    }));
  }

  clear(): void {
    for (const table of ['shards', ...NAMES]) this.file.exec(`DELETE FROM ${table}`);
  }

  load(table: StatisticsTable, rows: readonly StatisticsRow[]): void {
    const { write } = this.#statements.get(table) as Statements;
    for (const row of rows) write.run(row);
  }
}

function statementsOf(file: SqlFile, table: StatisticsTable): Statements {
  const { key, more, later } = STATISTICS_TABLES[table];
  const columns = [...key, ...more, ...later];
  const select = `SELECT ${columns.join(', ')} FROM ${table}`;
  const order = `ORDER BY ${key.join(', ')} LIMIT ${STEP_ROWS}`;
  const places = (names: readonly string[]) => names.map(() => '?').join(', ');
  return {
    first: file.prepare(`${select} ${order}`),
    after: file.prepare(`${select} WHERE (${key.join(', ')}) > (${places(key)}) ${order}`),
    write: file.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places(columns)})`),
  };
}
