/** Payloads of function libraries are exchanged with real servers in both directions. */
import { expect } from 'chai';
import { KvBench } from '../support/kv-bench.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../support/redis-server.js';
import { bulks } from './pair.js';

const LIBRARY = `#!lua name=lib\n-- ${'long enough to be compressed '.repeat(30)}\nredis.register_function('f', function() return 'it runs' end)`;

for (const binary of Object.values(REDIS_BINARIES)) {
  describe(`differential: FUNCTION DUMP and RESTORE with ${binary}`, () => {
    let server: RedisServer;
    before(async function () {
      if (redisVersion(binary) === undefined) return this.skip();
      server = await startRedis(binary);
    });
    after(async () => server?.stop());

    it('the server restores a payload of Millrace', async () => {
      const bench = new KvBench();
      bench.run(['FUNCTION', 'LOAD', LIBRARY]);
      const payload = bench.run(['FUNCTION', 'DUMP']).reply as string;
      expect(await server.client.call(['FUNCTION', 'RESTORE', payload, 'FLUSH'])).to.equal('+OK\r\n');
      expect(await server.client.call(['FCALL', 'f', '0'])).to.equal('$7\r\nit runs\r\n');
    });

    it('Millrace restores a payload of the server', async () => {
      await server.client.call(['FUNCTION', 'FLUSH']);
      await server.client.call(['FUNCTION', 'LOAD', LIBRARY]);
      const payload = bulks(`*1\r\n${await server.client.call(['FUNCTION', 'DUMP'])}`)[0] as string;
      const bench = new KvBench();
      expect(bench.run(['FUNCTION', 'RESTORE', payload]).effects).to.have.length(1);
      expect(bench.run(['FCALL', 'f', '0']).reply).to.equal('it runs');
      bench.expectReplayed();
      bench.expectRebuilt();
    });
  });
}
