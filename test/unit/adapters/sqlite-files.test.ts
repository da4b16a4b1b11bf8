/** Files of tables: what a kill leaves, and what is said of a file that is none. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteFiles } from '../../../src/adapters/sqlite/index.js';
import { SqlFailure } from '../../../src/ports/index.js';

describe('a file of tables', () => {
  let folder: string;
  let files: SqliteFiles;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-sqlite-'));
    files = new SqliteFiles(join(folder, 'some', 'tables.db'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps numbers up to 2^53, texts, bytes and nothing', () => {
    const file = files.open();
    file.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB, absent TEXT)');
    const row = { id: Number.MAX_SAFE_INTEGER, text: 'ä€😀', bytes: new Uint8Array([0, 255]), absent: null };
    const id = file.prepare('INSERT INTO t VALUES (?, ?, ?, ?)').insert(Object.values(row));
    expect(id).to.equal(Number.MAX_SAFE_INTEGER);
    expect(file.prepare('SELECT * FROM t').all([])).to.deep.equal([row]);
    file.close();
  });

  it('ends a text at its first NUL', () => {
    const file = files.open();
    expect(file.prepare('SELECT ? AS text').get(['a\u0000b'])).to.deep.equal({ text: 'a' });
    file.close();
  });

  it('undoes a transaction that throws', () => {
    const file = files.open();
    file.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)');
    const insert = file.prepare('INSERT OR IGNORE INTO t VALUES (?)');
    expect(() =>
      file.transaction(() => {
        insert.run([1]);
        throw new Error('on purpose');
      }),
    ).to.throw('on purpose');
    expect(file.prepare('SELECT * FROM t').all([])).to.deep.equal([]);
    expect([insert.insert([1]), insert.insert([1])]).to.deep.equal([1, 0]);
    file.close();
  });

  it('opens after its process was killed in a transaction: with what was committed', () => {
    const path = join(folder, 'some', 'tables.db');
    const adapter = new URL('../../../src/adapters/sqlite/index.js', import.meta.url).href;
    const program = `import { SqliteFiles } from ${JSON.stringify(adapter)};
      const file = new SqliteFiles(${JSON.stringify(path)}).open();
      file.exec('CREATE TABLE t (id INTEGER)');
      file.exec('INSERT INTO t VALUES (1)');
      file.exec('BEGIN');
      file.exec('INSERT INTO t VALUES (2)');
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
    expect([signal, existsSync(`${path}.lock`)]).to.deep.equal(['SIGKILL', true]);
    const file = files.open();
    expect(file.prepare('SELECT id FROM t').all([])).to.deep.equal([{ id: 1 }]);
    file.close();
  });

  it('says of a file that is none that it is damaged; removed, it is made anew', () => {
    files.open().close();
    writeFileSync(join(folder, 'some', 'tables.db'), 'x'.repeat(10_000));
    try {
      files.open();
      expect.fail('it was opened');
    } catch (error) {
      expect(error instanceof SqlFailure && error.isDamaged, String(error)).to.equal(true);
    }
    files.remove();
    expect(readdirSync(join(folder, 'some'))).to.deep.equal([]);
    files.open().close();
  });

  it('says of a statement that is wrong that the file is not', () => {
    const file = files.open();
    try {
      file.prepare('SELECT * FROM nothing');
      expect.fail('it was prepared');
    } catch (error) {
      expect(error instanceof SqlFailure && !error.isDamaged, String(error)).to.equal(true);
    }
    file.close();
  });
});
