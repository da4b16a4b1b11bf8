/** SQLite files: their contents after a kill, and errors for a file that is no database. Proves SQ1–SQ3, ENC1 and ENC2. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileAhead, encryptedEngine, SqliteFiles } from '../../../src/adapters/sqlite/index.js';
import { SqlFailure, type SqlFile } from '../../../src/ports/index.js';
import { directoryOf } from '../../support/stand-hooks.js';

/** The bytes written before a checkpoint, and the largest transaction after it. */
const WAL_BYTES = 24 * 1024 * 1024;

const KEY = new Uint8Array(32).fill(7);

for (const isEncrypted of [false, true]) {
  describe(isEncrypted ? 'an encrypted file of tables' : 'a file of tables', () => {
    const folder = directoryOf('each test');
    let files: SqliteFiles;
    let engine: Awaited<ReturnType<typeof encryptedEngine>> | undefined;
    before(async () => {
      if (isEncrypted) engine = await encryptedEngine(KEY);
    });

    beforeEach(() => {
      files = new SqliteFiles(join(folder.path, 'some', 'tables.db'), engine);
    });

    it('keeps numbers up to 2^53, texts, bytes and NULL', () => {
      const file = files.open();
      file.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB, absent TEXT)');
      const row = { id: Number.MAX_SAFE_INTEGER, text: 'ä€😀', bytes: new Uint8Array([0, 255]), absent: null };
      const id = file.prepare('INSERT INTO t VALUES (?, ?, ?, ?)').insert(Object.values(row));
      expect(id).to.equal(Number.MAX_SAFE_INTEGER);
      expect(file.prepare('SELECT * FROM t').all([])).to.deep.equal([row]);
      file.close();
    });

    it('is empty when it is opened after the compilation ahead, which leaves no file', () => {
      compileAhead();
      const file = files.open();
      expect(file.prepare('SELECT count(*) AS tables FROM sqlite_schema').get([])).to.deep.equal({ tables: 0 });
      expect(file.prepare('SELECT journal_mode AS mode FROM pragma_journal_mode').get([])).to.deep.equal({
        mode: 'wal',
      });
      file.close();
      expect(readdirSync(join(folder.path, 'some'))).to.deep.equal(['tables.db']);
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

    for (const [left, header] of [
      ['an empty header', new Uint8Array()],
      ['a page of zeros for its header', new Uint8Array(4096)],
    ] as const) {
      it(`has all of a transaction or none, or is reported as damaged, where a power loss left ${left}`, () => {
        const file = files.open();
        file.exec('CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1)');
        const path = join(folder.path, 'some', 'tables.db');
        const after = join(folder.path, 'after.db');
        copyFileSync(`${path}-wal`, `${after}-wal`);
        writeFileSync(after, header);
        file.close();
        const lost = new SqliteFiles(after, engine);
        let tables: unknown;
        try {
          const opened = lost.open();
          tables = opened.prepare('SELECT count(*) AS tables FROM sqlite_schema').get([])?.tables;
          if (tables === 1) expect(opened.prepare('SELECT id FROM t').all([])).to.deep.equal([{ id: 1 }]);
          opened.close();
        } catch (error) {
          if (!(error instanceof SqlFailure)) throw error;
          tables = error.isDamaged;
        }
        expect(tables).to.be.oneOf([0, 1, true]);
      });
    }

    it('has the committed rows after its process was killed in a transaction', () => {
      const path = join(folder.path, 'some', 'tables.db');
      const adapter = new URL('../../../src/adapters/sqlite/index.js', import.meta.url).href;
      const opened = isEncrypted ? ', await encryptedEngine(new Uint8Array(32).fill(7))' : '';
      const program = `import { encryptedEngine, SqliteFiles } from ${JSON.stringify(adapter)};
      const file = new SqliteFiles(${JSON.stringify(path)}${opened}).open();
      file.exec('CREATE TABLE t (id INTEGER)');
      file.exec('INSERT INTO t VALUES (1)');
      file.exec('BEGIN');
      file.exec('INSERT INTO t VALUES (2)');
      process.kill(process.pid, 'SIGKILL');`;
      const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
      expect([signal, existsSync(`${path}.lock`)]).to.deep.equal(['SIGKILL', !isEncrypted]);
      const file = files.open();
      expect(file.prepare('SELECT id FROM t').all([])).to.deep.equal([{ id: 1 }]);
      file.close();
    });

    describe('a file of tables with a write-ahead log', () => {
      const path = () => join(folder.path, 'some', 'tables.db');
      const bytesOf = (name: string) => (existsSync(name) ? statSync(name).size : 0);

      /** Far more pages than are written before a checkpoint. */
      function write(file: SqlFile, betweenTransactions: () => void): void {
        const put = file.prepare('INSERT OR REPLACE INTO t VALUES (?, ?)');
        for (let round = 0; round < 40; round += 1) {
          file.transaction(() => {
            for (let id = 0; id < 100; id += 1) put.run([id, new Uint8Array(7000).fill(round)]);
          });
          betweenTransactions();
        }
      }

      function begun(): SqlFile {
        const file = files.open();
        file.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)');
        file.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
        INSERT INTO t SELECT i, zeroblob(7000) FROM n`);
        return file;
      }

      for (const [how, ask] of [
        ['one row', (file: SqlFile) => void file.prepare('SELECT data FROM t WHERE id = ?').get([1])],
        ['one row of several', (file: SqlFile) => void file.prepare('SELECT data FROM t ORDER BY id LIMIT 3').get([])],
        ['all rows', (file: SqlFile) => void file.prepare('SELECT data FROM t').all([])],
        [
          'a query that fails halfway',
          (file: SqlFile) =>
            expect(() => file.prepare("SELECT json(CASE id WHEN 2 THEN '{' ELSE '1' END) FROM t").all([])).to.throw(),
        ],
      ] as const) {
        it(`copies the log into the file and restarts it, after ${how}`, () => {
          const file = begun();
          ask(file);
          write(file, () => {});
          expect(bytesOf(`${path()}-wal`)).to.be.below(WAL_BYTES);
          file.close();
        });
      }

      it('copies the log also while rows are read all the time', () => {
        const file = begun();
        const one = file.prepare('SELECT data FROM t WHERE id = ?');
        const some = file.prepare('SELECT id FROM t WHERE id > ? ORDER BY id LIMIT 10');
        write(file, () => {
          one.get([5]);
          some.all([20]);
        });
        expect(bytesOf(`${path()}-wal`)).to.be.below(WAL_BYTES);
        file.close();
      });
    });

    it('that is no database is reported as damaged, and created again once it is removed', () => {
      files.open().close();
      writeFileSync(join(folder.path, 'some', 'tables.db'), 'x'.repeat(10_000));
      try {
        files.open();
        expect.fail('it was opened');
      } catch (error) {
        expect(error instanceof SqlFailure && error.isDamaged, String(error)).to.equal(true);
      }
      files.remove();
      expect(readdirSync(join(folder.path, 'some'))).to.deep.equal([]);
      files.open().close();
    });

    it('frees empty pages in steps, and only when it is worth it', () => {
      const path = join(folder.path, 'some', 'tables.db');
      const file = files.open();
      file.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)');
      const fill = file.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO t SELECT i, zeroblob(7000) FROM n`);
      fill.run([5000]);
      expect(file.giveBack()).to.equal(0);
      file.exec('DELETE FROM t WHERE id % 10 = 1');
      expect(file.giveBack(), 'a tenth is free').to.equal(0);
      file.exec('DELETE FROM t WHERE id > 500');
      const steps: number[] = [];
      for (let bytes = file.giveBack(); bytes > 0; bytes = file.giveBack()) steps.push(bytes);
      expect(steps.length).to.be.above(10);
      expect(file.prepare('SELECT count(*) AS rows FROM t').get([])).to.deep.equal({ rows: 450 });
      file.close();
      expect(statSync(path).size).to.be.below(12 * 1024 * 1024);
      const again = files.open();
      expect(again.prepare('SELECT count(*) AS rows FROM t WHERE length(data) = 7000').get([])).to.deep.equal({
        rows: 450,
      });
      again.close();
    });

    it('runs a statement again that has failed', () => {
      const file = files.open();
      const statement = file.prepare('SELECT json(?) AS text');
      expect(() => statement.get(['{'])).to.throw(SqlFailure);
      expect(statement.get(['[1]'])).to.deep.equal({ text: '[1]' });
      expect(() => statement.get(['{'])).to.throw(SqlFailure);
      file.close();
    });

    it('reports a wrong statement without calling the file damaged', () => {
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
}

describe('the pages of an encrypted file of tables', () => {
  const CANARY = 'a text that must not be found';
  const folder = directoryOf('each test');

  it('show no text, neither in the file nor in its write-ahead log', async () => {
    const path = join(folder.path, 'tables.db');
    const file = new SqliteFiles(path, await encryptedEngine(KEY)).open();
    file.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX t_by_text ON t (text)');
    const insert = file.prepare('INSERT INTO t (text) VALUES (?)');
    for (let row = 0; row < 500; row += 1) insert.run([`${CANARY} ${row}`]);
    expect(readFileSync(`${path}-wal`).length).to.be.above(0);
    const found = () =>
      readdirSync(folder.path).filter((name) => readFileSync(join(folder.path, name)).includes(CANARY));
    expect(found()).to.deep.equal([]);
    file.close();
    expect(found()).to.deep.equal([]);
  });

  it('are reported as damaged with another key, and without a key', async () => {
    const path = join(folder.path, 'tables.db');
    const file = new SqliteFiles(path, await encryptedEngine(KEY)).open();
    file.exec('CREATE TABLE t (id INTEGER)');
    file.close();
    for (const engine of [await encryptedEngine(new Uint8Array(32).fill(8)), undefined]) {
      try {
        new SqliteFiles(path, engine).open();
        expect.fail('it was opened');
      } catch (error) {
        expect(error instanceof SqlFailure && error.isDamaged, String(error)).to.equal(true);
      }
    }
  });
});
