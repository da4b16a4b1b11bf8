/**
 * Import of running servers over RESP: complete, repeated, into existing data, of one database, and by MIGRATE. Proves
 * KYW1, KYW2, KYW3, RSO1.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.js';
import { type ImportStand, importInto, startImportStand } from '../../support/import-stand.js';
import { contentsOf, fillRedis } from '../../support/redis-data.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../../support/redis-server.js';
import { RespClient } from '../../support/resp-client.js';
import { PASSWORD } from '../../support/resp-endpoint.js';

const SECRET = 'secret-of-the-source';

for (const binary of Object.values(REDIS_BINARIES)) {
  describe(`import of a running ${binary}`, function () {
    this.timeout(60_000);
    let dir: string;
    let stand: ImportStand;
    let server: RedisServer;
    let here: RespClient;
    let source: string;
    before(function () {
      if (redisVersion(binary) === undefined) this.skip();
    });
    beforeEach(async () => {
      dir = mkdtempSync(join(tmpdir(), 'millrace-import-'));
      const port = await freePort();
      server = await startRedis(binary, ['--port', String(port)]);
      source = `redis://:${SECRET}@127.0.0.1:${port}`;
      await server.client.call(['CONFIG', 'SET', 'requirepass', SECRET]);
      await server.client.call(['AUTH', SECRET]);
      stand = await startImportStand();
      here = await RespClient.connect({ port: stand.port, host: '127.0.0.1' });
      await here.call(['AUTH', PASSWORD]);
    });
    afterEach(async () => {
      here.close();
      await server.stop();
      await stand.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    it('takes over all data, and changes no key when it is repeated', async () => {
      await fillRedis(server.client, server.major);
      const first = await importInto(stand, source, '--batch', '7');
      expect(first.out).to.match(/left=0 compared=\d\d different=0\n[\s\S]*ok\n$/);
      expect(first.code).to.equal(0);
      const [theirs, ours] = [await contentsOf(server.client), await contentsOf(here)];
      expect(ours.size).to.equal(theirs.size);
      for (const [key, parts] of theirs) expect(ours.get(key), key.slice(0, 40)).to.deep.equal(parts);
      const again = await importInto(stand, source, '--json');
      const { taken, unchanged, ok, source: digest, destination } = JSON.parse(again.out);
      expect([taken, unchanged, ok]).to.deep.equal([0, theirs.size + 1, true]);
      expect(digest)
        .to.equal(destination)
        .and.match(/^[0-9a-f]{32}$/);
    });

    it('leaves existing keys and lists them, and overwrites them with --replace', async () => {
      await server.client.callAll([
        ['SET', 'k', 'theirs'],
        ['SET', 'same', 'v'],
      ]);
      await here.callAll([
        ['SET', 'k', 'ours'],
        ['SET', 'same', 'v'],
        ['SET', 'more', 'v'],
      ]);
      const { code, out } = await importInto(stand, source);
      expect(code).to.equal(1);
      expect(out).to.equal(
        'left      "k": exists with another value; --replace overwrites it\n' +
          'different "k": has another value or expiry at the destination\n' +
          'taken=0 unchanged=1 expired=0 left=1 compared=2 different=1\n' +
          /digest[\s\S]*$/.exec(out)?.[0],
      );
      expect(await here.call(['GET', 'k'])).to.equal('$4\r\nours\r\n');
      expect((await importInto(stand, source, '--replace')).code).to.equal(0);
      expect(await here.call(['MGET', 'k', 'more'])).to.equal('*2\r\n$6\r\ntheirs\r\n$1\r\nv\r\n');
    });

    it('compares without writing with --only-compare', async () => {
      await server.client.callAll([
        ['SET', 'missing', 'v'],
        ['SET', 'expiring', 'v', 'PX', '1000000'],
      ]);
      await here.call(['SET', 'expiring', 'v']);
      const { code, out } = await importInto(stand, source, '--only-compare', '--json');
      const lines = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.slice(0, -1).sort((a, b) => (a.key < b.key ? -1 : 1))).to.deep.equal([
        { event: 'different', key: 'expiring', why: 'has another value or expiry at the destination' },
        { event: 'different', key: 'missing', why: 'is not at the destination' },
      ]);
      expect(code).to.equal(1);
      expect(await here.call(['EXISTS', 'missing'])).to.equal(':0\r\n');
    });

    it('takes one database, and counts the keys of others', async () => {
      await server.client.call(['SET', 'first', '0']);
      await server.client.call(['SELECT', '2']);
      await server.client.call(['SET', 'third', '2']);
      const { code, out } = await importInto(stand, source);
      expect(out).to.match(/^left {6}"database 2": its 1 keys are not imported: run again with --database 2\n/);
      expect(code).to.equal(1);
      expect((await importInto(stand, source, '--database', '2')).code).to.equal(0);
      expect((await importInto(stand, `${source}/2`)).out).to.match(/^taken=0 unchanged=1 /);
      expect(await here.call(['MGET', 'first', 'third'])).to.equal('*2\r\n$1\r\n0\r\n$1\r\n2\r\n');
    });

    it('splits a large value into several commands, and lists a value that is too large for that', async () => {
      const words = Array.from(
        { length: 40_000 },
        (_, at) => `a field or value ${at} of ${Math.imul(at, 0x9e3779b1) >>> 0}`,
      );
      await server.client.callAll([
        ['HSET', 'hash', ...words],
        ['RPUSH', 'list', ...words],
        ['PEXPIRE', 'list', '1000000'],
        ['SET', 'string', Array.from({ length: 300_000 }, (_, at) => Math.imul(at, 0x9e3779b1) >>> 0).join('')],
      ]);
      stand.face.maxCommandBytes = 2_000_000;
      const { code, out } = await importInto(stand, source, '--unverified', '--json');
      expect(code).to.equal(1);
      const [left, end] = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(left).to.deep.include({ event: 'left', key: 'string' });
      expect(left.why).to.match(/^ERR .*(exceed|large|max)/);
      expect(end).to.deep.include({ taken: 2, left: 1, compared: 0 });
      expect(await here.call(['EXISTS', 'string'])).to.equal(':0\r\n');
      expect(await here.call(['PEXPIRETIME', 'list'])).to.equal(await server.client.call(['PEXPIRETIME', 'list']));
      const [theirs, ours] = [await contentsOf(server.client), await contentsOf(here)];
      expect(ours.get('hash')).to.deep.equal(theirs.get('hash'));
      expect(ours.get('list')).to.deep.equal(theirs.get('list'));
    });

    it('continues from its --state file, and refuses the state of another source', async () => {
      for (let at = 0; at < 50; at += 1) await server.client.call(['SET', `k${at}`, 'v']);
      const state = join(dir, 'state.json');
      await importInto(stand, source, '--state', state);
      expect(existsSync(state), 'nothing is left when all is done').to.equal(false);
      writeFileSync(state, JSON.stringify({ source: 'another', next: '0' }));
      const other = await importInto(stand, source, '--state', state);
      expect(other.err).to.match(/belongs to another source: another\n$/);
      expect(other.code).to.equal(1);
      writeFileSync(state, 'nonsense');
      expect((await importInto(stand, source, '--state', state)).err).to.match(/is not the state file of an import\n$/);
      expect(readFileSync(state, 'utf8')).to.equal('nonsense');
    });

    it('keeps to the --rate', async () => {
      for (let at = 0; at < 30; at += 1) await server.client.call(['SET', `k${at}`, 'v']);
      const beganMs = performance.now();
      await importInto(stand, source, '--rate', '60', '--unverified', '--batch', '5');
      expect(performance.now() - beganMs).to.be.greaterThan(450);
    });

    it('accepts MIGRATE with expiries, and refuses existing keys', async () => {
      await fillRedis(server.client, server.major);
      const keys = (await server.client.call(['KEYS', '*']))
        .split('\r\n')
        .filter((_word, at) => at > 0 && at % 2 === 0);
      const named = keys.filter((key) => /^[a-z ]+$/.test(key));
      const migrate = (...options: string[]) =>
        server.client.call(['MIGRATE', '127.0.0.1', String(stand.port), '', '0', '5000', 'COPY', ...options]);
      expect(await migrate('AUTH2', 'default', PASSWORD, 'KEYS', ...named)).to.equal('+OK\r\n');
      const [theirs, ours] = [await contentsOf(server.client), await contentsOf(here)];
      for (const key of named) {
        // MIGRATE sends the remaining time to live, so the transfer's time is added.
        expect(ours.get(key)?.toSpliced(1, 1), key).to.deep.equal(theirs.get(key)?.toSpliced(1, 1));
        const [at = 0, sent = 0] = [theirs, ours].map((all) => Number(all.get(key)?.[1]?.slice(1)));
        expect(sent).to.be.within(at, at + 2000);
      }
      expect(await migrate('AUTH', PASSWORD, 'KEYS', 'list')).to.match(/BUSYKEY/);
      expect(await migrate('REPLACE', 'AUTH', PASSWORD, 'KEYS', 'list')).to.equal('+OK\r\n');
    });
  });
}

describe('import with wrong arguments', () => {
  const to = { url: 'redis://127.0.0.1:1' };
  const CASES: readonly (readonly [title: string, words: readonly string[], code: number, error: RegExp])[] = [
    ['an unreachable destination', ['redis://127.0.0.1:2'], 1, /cannot connect to 127.0.0.1:1: connect ECONNREFUSED/],
    ['a URL of another protocol', ['http://127.0.0.1'], 2, /http:\/\/127.0.0.1 is not a redis:\/\/ or rediss:\/\/ URL/],
    [
      'a database that is not a number',
      ['redis://a:secret@127.0.0.1/x'],
      2,
      /redis:\/\/127.0.0.1\/x: the path after the port must be a database number/,
    ],
    ['a batch of 0 keys', ['x', '--batch', '0'], 2, /--batch must be from 1 to 10000 keys/],
    ['a batch of 10001 keys', ['x', '--batch', '10001'], 2, /--batch must be from 1 to 10000 keys/],
    [
      '--only-compare with --unverified',
      ['x', '--only-compare', '--unverified'],
      2,
      /--only-compare and --unverified exclude each other: give one of them/,
    ],
  ];
  for (const [title, words, code, error] of CASES) {
    it(`is refused in one line: ${title}`, async () => {
      const [source = '', ...more] = words;
      const { code: given, err } = await importInto(to, source, ...more);
      expect(err.split('\n')[0]).to.match(error).and.not.include('secret');
      expect(given).to.equal(code);
    });
  }

  it('is refused for a file that is neither an RDB file nor an append-only file', async () => {
    const stand = await startImportStand();
    try {
      const { code, err } = await importInto(stand, 'package.json');
      expect([code, err.split('\n')[0]]).to.deep.equal([
        2,
        'millrace: package.json is neither an RDB file nor an append-only file',
      ]);
      expect((await importInto(stand, '/nowhere')).err).to.match(/^millrace: \/nowhere is neither a file nor a redis:/);
    } finally {
      await stand.stop();
    }
  });

  it('reports a wrong password of the destination', async () => {
    const stand = await startImportStand();
    try {
      const { code, err } = await importInto({ url: stand.url.replace(PASSWORD, 'wrong') }, 'redis://127.0.0.1:2');
      expect([code, err]).to.deep.equal([
        1,
        `millrace: 127.0.0.1:${stand.port} refuses AUTH: WRONGPASS invalid username-password pair or user is disabled.\n`,
      ]);
    } finally {
      await stand.stop();
    }
  });
});
