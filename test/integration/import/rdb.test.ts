/** RDB files of real servers, in every encoding that their settings produce, imported over RESP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ImportStand, importInto, startImportStand } from '../../support/import-stand.js';
import { contentsOf, fieldExpiriesOf, fillRedis } from '../../support/redis-data.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../../support/redis-server.js';
import { RespClient } from '../../support/resp-client.js';

const UNPACKED = ['hash', 'zset', 'set'].flatMap((kind) => [`--${kind}-max-listpack-entries`, '0']);
/** Settings that have other forms written. */
const VARIATIONS: readonly (readonly [title: string, options: readonly string[], since?: number])[] = [
  ['with its default settings', []],
  ['without compression or checksum', ['--rdbcompression', 'no', '--rdbchecksum', 'no']],
  ['with nothing packed', [...UNPACKED, '--set-max-intset-entries', '0', '--list-max-listpack-size', '1'], 8],
  [
    'with everything packed',
    ['hash', 'zset', 'set'].flatMap((kind) => [
      `--${kind}-max-listpack-entries`,
      '100000',
      `--${kind}-max-listpack-value`,
      '100000',
    ]),
    8,
  ],
  [
    'with small nodes, packed',
    ['--list-max-listpack-size', '3', '--list-compress-depth', '1', '--stream-node-max-entries', '3'],
  ],
  ['that evicts the least recently used', ['--maxmemory', '1gb', '--maxmemory-policy', 'allkeys-lru']],
  ['that evicts the least frequently used', ['--maxmemory', '1gb', '--maxmemory-policy', 'allkeys-lfu']],
];

for (const binary of Object.values(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  describe(`import of an RDB file of ${binary}`, function () {
    this.timeout(60_000);
    let dir: string;
    let stand: ImportStand;
    let server: RedisServer | undefined;
    before(function () {
      if (version === undefined) this.skip();
    });
    beforeEach(async () => {
      dir = mkdtempSync(join(tmpdir(), 'millrace-import-'));
      stand = await startImportStand();
    });
    afterEach(async () => {
      await server?.stop();
      server = undefined;
      await stand?.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    for (const [title, options, since = 7] of VARIATIONS) {
      it(`takes over all data of a server ${title}`, async function () {
        if (Number(version?.split('.')[0]) < since) return this.skip();
        server = await startRedis(binary, [...options, '--dir', dir]);
        await fillRedis(server.client, server.major);
        await server.client.call(['SAVE']);
        const { code, out } = await importInto(stand, join(dir, 'dump.rdb'));
        expect(out)
          .to.match(/left=0 compared=\d+ different=0\n/)
          .and.match(/ok\n$/);
        expect(code).to.equal(0);
        await sameAs(server);
        expect((await importInto(stand, join(dir, 'dump.rdb'))).out, 'again').to.match(/taken=0 unchanged=\d{2,}/);
      });
    }

    async function sameAs({ client, major }: RedisServer): Promise<void> {
      const here = await RespClient.connect({ port: stand.port, host: '127.0.0.1' });
      try {
        await here.call(['AUTH', stand.password]);
        const [theirs, ours] = [await contentsOf(client), await contentsOf(here)];
        expect([...ours.keys()]).to.deep.equal([...theirs.keys()]);
        for (const [key, parts] of theirs) expect(ours.get(key), key.slice(0, 40)).to.deep.equal(parts);
        if (major >= 7) expect(await here.call(['FCALL', 'answer', '0'])).to.equal(':42\r\n');
        if (major < 8) return;
        for (const [key, fields] of [
          ['hash', ['f', 'n']],
          ['large hash', ['f1', 'f2', 'f1999']],
        ] as const) {
          expect(await fieldExpiriesOf(here, key, fields)).to.equal(await fieldExpiriesOf(client, key, fields));
        }
      } finally {
        here.close();
      }
    }
  });
}
