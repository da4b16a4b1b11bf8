/** The published package, unmodified, on a real process that is killed while it works. */
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { endEverything, startMillrace, TOKEN, temporaryDirectory } from '../../support/millrace-process.js';

const ENV = { MILLRACE_WIRE_ALIAS: 'Upstash:qstash:redis' };

describe('client package: @upstash/redis on a process that is killed', () => {
  after(endEverything);

  it('reads every acknowledged value after each of three kills', async function () {
    this.timeout(60_000);
    const dataDir = await temporaryDirectory();
    const written = new Map<string, { readonly round: number; readonly text: string }>();
    for (let round = 1; round <= 3; round += 1) {
      const millrace = await startMillrace({ dataDir, env: ENV });
      const redis = new Redis({ url: millrace.kvUrl, token: TOKEN });
      const before = [...written.keys()];
      const found = before.length === 0 ? [] : await redis.mget<unknown[]>(...before);
      expect(found).to.deep.equal([...written.values()]);
      expect(await redis.get('rounds')).to.equal(round === 1 ? null : round - 1);
      // Forty concurrent sets: the package joins them into pipelines by itself.
      await Promise.all(
        Array.from({ length: 40 }, async (_, i) => {
          const key = `key:${round}:${i}`;
          const value = { round, text: `väl üe ${i} \u{1f600}` };
          await redis.set(key, value);
          written.set(key, value);
        }),
      );
      await redis.multi().incr('rounds').set('last', round).exec();
      millrace.kill('SIGKILL');
      await millrace.exited;
    }
  });
});
