/**
 * The owner is killed while a backup replaces the content of a database. The database then holds the old or the new
 * content, never a mixture. Proves KO1.
 */
import { expect } from 'chai';
import type { BackupId } from '../../src/kernel/index.js';
import { kvPartition } from '../../src/protocol/index.js';
import { MomentsStand } from '../support/backup-moments-stand.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const KILLS = Number(process.env.CHAOS_BACKUP_KILLS ?? '5');
const MS_FOR_A_KILL = 45_000;
/** An entry in some thirty chunks. */
const KEYS = 2500;
const VALUE = 'v'.repeat(6000);
/** Loading and storing the backup take part of this time, so the kill falls before, into or after either. */
const WITHIN_MS = [300, 1500] as const;
const BACKUP = 'd2f4c9a0-54d9-4b0c-8a9e-4f6f0c1b7e22' as BackupId;

describe('a database during a restore with a killed owner', function () {
  this.timeout(120_000 + KILLS * MS_FOR_A_KILL);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let stand: MomentsStand;

  before(async () => {
    console.log(replayLine(seed, 'backup-moments'));
    stand = await MomentsStand.start({ MILLRACE_KV_SHARDS: '1' });
  });
  after(() => stand?.stop());

  it('holds the complete old content or the complete new content', async () => {
    for (let n = 0; n < KEYS; n += 50) {
      const some = Array.from({ length: 50 }, (_, i) => ['SET', `key:${n + i}`, `${n + i} ${VALUE}`]);
      expect((await stand.millrace.kv.pipeline(some)).kind).to.equal('done');
    }
    const { database, manifests } = await stand.keep(BACKUP);
    const partition = kvPartition(database, 0);
    const found = { before: 0, after: 0 };
    for (let round = 0; round < KILLS; round += 1) {
      await stand.millrace.kv.ask('FLUSHALL');
      await stand.millrace.kv.ask('SET', 'round', round);
      const commands = [[manifests[0] as string]];
      // Sent once: a caller that repeats the request would make the next owner execute it.
      const request = { database, partition, mode: 'replace', commands, bytes: 100 } as const;
      let isAnswered = false;
      const asked = stand.hasty.execute(request).then(
        () => {
          isAnswered = true;
        },
        () => undefined,
      );
      const killAtMs = performance.now() + random.below(random.pick(WITHIN_MS));
      while (performance.now() < killAtMs) await new Promise((resolve) => setImmediate(resolve));
      const wasAnswered = isAnswered;
      await stand.restart();
      await asked;
      const { kv } = stand.millrace;
      const size = await kv.ask('DBSIZE');
      if (size === 1) {
        found.before += 1;
        expect(await kv.ask('GET', 'round')).to.equal(String(round));
        expect(wasAnswered, 'an acknowledged replacement is gone').to.equal(false);
      } else {
        found.after += 1;
        expect(size).to.equal(KEYS);
        const n = random.below(KEYS);
        expect(await kv.ask('GET', `key:${n}`)).to.equal(`${n} ${VALUE}`);
      }
    }
    expect(found.before + found.after).to.equal(KILLS);
    console.log(`      as it was ${found.before} times, replaced ${found.after} times`);
    await stand.keeper.restore(database, manifests);
    expect(await stand.millrace.kv.ask('DBSIZE')).to.equal(KEYS);
    const { code, stdout } = await stand.cluster.run(['journal', 'verify', '--database', 'default']);
    expect(stdout.toString()).to.contain('ok\n');
    expect(code).to.equal(0);
  });
});
