/**
 * Append-only files of real servers, imported over RESP: with and without an RDB preamble, whole and cut. Proves AOR1,
 * AOR2.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { eventually } from '../../support/eventually.js';
import { type ImportStand, importInto, startImportStand } from '../../support/import-stand.js';
import { keyOf, rdbFile, text } from '../../support/rdb-writer.js';
import { contentsOf, fillRedis } from '../../support/redis-data.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../../support/redis-server.js';
import { RespClient } from '../../support/resp-client.js';
import { PASSWORD } from '../../support/resp-endpoint.js';

describe('import of an append-only file', function () {
  this.timeout(60_000);
  let dir: string;
  let stand: ImportStand;
  let here: RespClient;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'millrace-import-'));
    stand = await startImportStand();
    here = await RespClient.connect({ port: stand.port, host: '127.0.0.1' });
    await here.call(['AUTH', PASSWORD]);
  });
  afterEach(async () => {
    here.close();
    await stand.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const log = (...commands: string[]) => commands.map((line) => encodeCommand(line.split(' '))).join('');
  function file(...parts: (string | Buffer)[]): string {
    const path = join(dir, 'appendonly.aof');
    writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))));
    return path;
  }

  for (const binary of Object.values(REDIS_BINARIES)) {
    describe(`of ${binary}`, () => {
      let server: RedisServer | undefined;
      before(function () {
        if (redisVersion(binary) === undefined) this.skip();
      });
      afterEach(async () => {
        await server?.stop();
        server = undefined;
      });

      for (const preamble of ['yes', 'no']) {
        it(`takes over all keys of a directory rewritten ${preamble === 'yes' ? 'as RDB keys' : 'as commands'}`, async () => {
          const options = [
            '--enable-debug-command',
            'yes',
            '--dir',
            dir,
            '--appendonly',
            'yes',
            '--aof-use-rdb-preamble',
            preamble,
          ];
          server = await startRedis(binary, [...options, '--aof-timestamp-enabled', 'yes']);
          const { client } = server;
          await fillRedis(client, server.major);
          await client.call(['BGREWRITEAOF']);
          await eventually(async () => {
            expect(await client.call(['INFO', 'persistence'])).to.match(
              /aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/,
            );
          });
          await client.callAll([['MULTI'], ['INCR', 'counted'], ['LPOP', 'long list', '2'], ['EXEC']]);
          await client.call(['SET', 'late', 'v', 'EX', '1000']);
          await client.call(['EVAL', "for i = 1, 3 do redis.call('RPUSH', 'scripted', i) end", '0']);
          await client.call(['CONFIG', 'SET', 'appendfsync', 'always']);
          await client.call(['SET', 'last', 'v']);
          const { code, out } = await importInto(stand, join(dir, 'appendonlydir'));
          // Which ids producers sent has no command here.
          const left = out.split('\n').filter((line) => line.startsWith('left'));
          const ofProducers = preamble === 'no' && server.major >= 8 ? 2 : 0;
          expect(
            left.filter((line) => line.startsWith('left      "XIDMPRECORD stream of producers at byte')),
          ).to.have.lengthOf(ofProducers);
          expect([left.length, code]).to.deep.equal([ofProducers, ofProducers === 0 ? 0 : 1]);
          // A log does not contain pending entries that were deleted, so the Redis server forgets them too after loading it.
          expect(await client.call(['DEBUG', 'LOADAOF'])).to.equal('+OK\r\n');
          const [theirs, ours] = [await contentsOf(client), await contentsOf(here)];
          expect([...ours.keys()]).to.deep.equal([...theirs.keys()]);
          for (const [key, parts] of theirs) expect(ours.get(key), key.slice(0, 40)).to.deep.equal(parts);
        });
      }
    });
  }

  it('takes the keys of an RDB preamble, as before Redis 7', async () => {
    const keys = rdbFile([`\xfa${text('aof-preamble')}${text('1')}`, keyOf(0, 'k', text('1'))]);
    const { code, out } = await importInto(stand, file(keys, log('SELECT 0', 'INCR k')));
    expect([code, out]).to.deep.equal([0, 'taken=2 unchanged=0 expired=0 left=0 compared=0 different=0\nok\n']);
    expect(await here.call(['GET', 'k'])).to.equal('$1\r\n2\r\n');
  });

  it('is refused when the preamble is cut', async () => {
    const keys = rdbFile([`\xfa${text('aof-preamble')}${text('1')}`, keyOf(0, 'k', text('1'))]);
    const { code, err } = await importInto(stand, file(keys.subarray(0, -1)));
    expect([code, err]).to.deep.equal([1, `millrace: the file ends too soon, at byte ${keys.length - 1}\n`]);
  });

  it('skips a command or transaction that is cut at the end, with a warning', async () => {
    const whole = log('SET a 1', 'MULTI', 'SET b 1', 'SET c 1');
    const { code, out } = await importInto(stand, file(whole.slice(0, -3)));
    expect(out).to.equal(
      'warning   appendonly.aof ends within a command at byte 93; that command is skipped\n' +
        'warning   the log ends within a transaction; that transaction is skipped\n' +
        'taken=3 unchanged=0 expired=0 left=0 compared=0 different=0\nok\n',
    );
    expect(code).to.equal(0);
    expect(await here.call(['KEYS', '*'])).to.equal('*1\r\n$1\r\na\r\n');
  });

  it('lists refused commands and continues', async () => {
    const commands = log('SET a v', 'INCR a', 'MULTI', 'INCR a', 'SET b 1', 'EXEC', 'SWAPDB 0 1', 'SET c 1');
    const { code, out } = await importInto(stand, file(commands), '--json');
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ what }) => what)).to.deep.equal([
      'INCR a at byte 27 of appendonly.aof',
      'EXEC  at byte 111 of appendonly.aof',
      'SWAPDB 0 at byte 125 of appendonly.aof',
      undefined,
    ]);
    expect(code).to.equal(1);
    expect(await here.call(['MGET', 'b', 'c'])).to.equal('*2\r\n$1\r\n1\r\n$1\r\n1\r\n');
  });

  it('takes the commands of one database, and counts those of others', async () => {
    const path = file(log('SELECT 0', 'SET a 1', 'SELECT 5', 'SET b 1', 'SET c 1', 'SELECT 0', 'SET d 1'));
    const { code, out } = await importInto(stand, path);
    expect(out).to.match(
      /^left {6}"database 5": its 2 commands are not imported: run again with --database 5\ntaken=2 /,
    );
    expect(code).to.equal(1);
    await here.call(['FLUSHALL']);
    expect((await importInto(stand, path, '--database', '5')).code).to.equal(0);
    expect((await here.call(['KEYS', '*'])).split('\r\n').sort()).to.deep.equal(['', '$1', '$1', '*2', 'b', 'c']);
  });

  it('needs an empty destination, and refuses --replace, --only-compare and --state', async () => {
    await here.call(['SET', 'there', '1']);
    const path = file(log('SET a 1'));
    expect((await importInto(stand, path)).err).to.match(/the destination is not empty/);
    for (const flag of [['--replace'], ['--only-compare'], ['--state', 'x']]) {
      const { code, err } = await importInto(stand, path, ...flag);
      expect([code, err.split('\n')[0]]).to.deep.equal([
        2,
        `millrace: ${flag[0]} is not available for an append-only log: its commands run once, on an empty database`,
      ]);
    }
  });

  it('names the position of bytes that are not a command', async () => {
    const DAMAGES: readonly (readonly [bytes: string, error: RegExp])[] = [
      ['*x\r\n', /the count is missing or above the limit of a server, at byte \d+$/],
      ['*1\r\n:1\r\n', /"\$" is missing/],
      ['*1\r\n$1\r\nab\r\n', /an argument is longer than its length field/],
      ['*1\r\n$9999999999\r\n', /the count is missing or above/],
      [`#${'x'.repeat(2000)}`, /the line has no end/],
    ];
    for (const [bytes, error] of DAMAGES) {
      await here.call(['FLUSHALL']);
      const { code, err } = await importInto(stand, file(log('SET a 1') + bytes));
      expect(err.trim()).to.match(error);
      expect(code).to.equal(1);
    }
  });

  describe('from a directory', () => {
    function parts(manifest: string, files: Readonly<Record<string, string>>): string {
      const path = join(dir, 'appendonlydir');
      mkdirSync(path, { recursive: true });
      for (const [name, bytes] of Object.entries(files)) writeFileSync(join(path, name), bytes, 'latin1');
      writeFileSync(join(path, 'appendonly.aof.manifest'), manifest);
      return path;
    }

    it('reads the files in the order of the manifest, without history files', async () => {
      const path = parts(
        'file b.aof seq 2 type b\nfile "i 10.aof" seq 10 type i\nfile h.aof seq 1 type h\nfile i9.aof seq 9 type i\n',
        {
          'b.aof': log('SELECT 0', 'SET k 1'),
          'i9.aof': log('SELECT 0', 'APPEND k 2'),
          'i 10.aof': `${log('APPEND k 3')}*1`,
          'h.aof': log('APPEND k 4'),
        },
      );
      expect((await importInto(stand, path)).out).to.match(/^warning {3}i 10.aof ends within a command/);
      expect(await here.call(['GET', 'k'])).to.equal('$3\r\n123\r\n');
    });

    it('is refused when a file before the last is cut, or one is missing', async () => {
      const cut = { 'b.aof': `${log('SET k 1')}*1`, 'i.aof': log('SET l 1') };
      const { code, err } = await importInto(stand, parts('file b.aof seq 1 type b\nfile i.aof seq 1 type i\n', cut));
      expect([code, err]).to.deep.equal([1, 'millrace: the file ends too soon, at byte 29\n']);
      await here.call(['FLUSHALL']);
      const missing = await importInto(stand, parts('file none.aof seq 1 type i\n', {}));
      expect(missing.err).to.match(/ENOENT.*none.aof/);
      expect(missing.code).to.equal(1);
    });

    it('is refused with an invalid manifest', async () => {
      const wrong = ['file ../b.aof seq 1 type b', 'file b.aof seq x type b', 'file b.aof seq 1 type z', 'seq 1', '"'];
      for (const line of wrong) {
        const { code, err } = await importInto(stand, parts(`${line}\n`, {}));
        expect([code, err.split('\n')[0]]).to.deep.equal([
          2,
          `millrace: appendonly.aof.manifest:1 is not a valid line of a manifest: ${line}`,
        ]);
      }
      const two = 'file a seq 1 type b\nfile b seq 2 type b\n';
      expect((await importInto(stand, parts(two, {}))).err).to.match(/appendonly.aof.manifest names 2 bases/);
      rmSync(join(dir, 'appendonlydir', 'appendonly.aof.manifest'));
      expect((await importInto(stand, join(dir, 'appendonlydir'))).err).to.match(/has 0 manifests/);
    });
  });
});
