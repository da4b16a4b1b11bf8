/** Rows that are added in batches. Proves MAR1. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteFiles } from '../../../src/adapters/sqlite/index.js';
import type { SqlFile } from '../../../src/ports/index.js';
import { AddedRows, RowIds } from '../../../src/projections/added-rows.js';

describe('rows added in batches', () => {
  let folder: string;
  let file: SqlFile;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-added-rows-'));
    file = new SqliteFiles(join(folder, 'rows.db')).open();
    file.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)');
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const names = () =>
    file
      .prepare('SELECT name FROM things ORDER BY id')
      .all([])
      .map(({ name }) => name);

  for (const count of [0, 1, 31, 32, 33, 95]) {
    it(`are all in the table after a flush, in order: ${count}`, () => {
      const rows = new AddedRows(file, 'INSERT INTO things', 2);
      const ids = new RowIds(file, 'things');
      for (let at = 0; at < count; at += 1) rows.add(ids.next(), `thing ${at}`);
      rows.flush();
      rows.flush();
      expect(names()).to.deep.equal(Array.from({ length: count }, (_, at) => `thing ${at}`));
    });
  }

  it('are distinguished from existing rows', () => {
    const rows = new AddedRows(file, 'INSERT OR IGNORE INTO things', 2);
    rows.add(1, 'one');
    expect(rows.flush()).to.equal(0);
    for (const [at, name] of ['one', 'two', 'two', 'three'].entries()) rows.add(at + 2, name);
    expect(rows.flush()).to.equal(2);
    expect(names()).to.deep.equal(['one', 'two', 'three']);
  });

  it('are not added after a rolled-back transaction', () => {
    const rows = new AddedRows(file, 'INSERT INTO things', 2);
    const ids = new RowIds(file, 'things');
    rows.add(ids.next(), 'one');
    rows.forget();
    ids.forget();
    rows.add(ids.next(), 'another');
    rows.flush();
    expect(names()).to.deep.equal(['another']);
  });
});
