/** Prepares the SQL statements of a read model once. */
import type { SqlFile, SqlStatement } from '../ports/index.js';

type Texts = Readonly<Record<string, string>>;
export type Prepared<Named extends Texts> = { readonly [Name in keyof Named]: SqlStatement };

/** @param texts SQL by statement name */
export function prepared<Named extends Texts>(file: Pick<SqlFile, 'prepare'>, texts: Named): Prepared<Named> {
  const statements = Object.entries(texts).map(([name, sql]) => [name, file.prepare(sql)]);
  return Object.fromEntries(statements) as Prepared<Named>;
}
