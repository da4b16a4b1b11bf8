/** Files that drop a change and all later ones, as a kill does. */
import type { SqlFile, SqlFiles, SqlStatement } from '../../src/ports/index.js';

/** @param at  the number of the first dropped change */
export function killedAt(files: SqlFiles, at: number): { files: SqlFiles; leave(): void } {
  let changes = 0;
  let close = () => {};
  const open = (): SqlFile => {
    const file = files.open();
    close = () => file.close();
    return {
      exec: (sql) => file.exec(sql),
      giveBack: () => file.giveBack(),
      close: () => file.close(),
      transaction: (work) => {
        file.exec('BEGIN');
        const result = work();
        file.exec('COMMIT');
        return result;
      },
      prepare: (sql) => {
        const statement = file.prepare(sql);
        const counted = (change: SqlStatement['run']) => (values: Parameters<SqlStatement['run']>[0]) => {
          changes += 1;
          if (changes === at) throw new Error('killed');
          return change(values);
        };
        return {
          run: counted((values) => statement.run(values)),
          insert: counted((values) => statement.insert(values)),
          get: (values) => statement.get(values),
          all: (values) => statement.all(values),
        };
      },
    };
  };
  return { files: { open, remove: () => files.remove() }, leave: () => close() };
}
