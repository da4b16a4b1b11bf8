/**
 * Backups and restores that are killed at a random moment. An incomplete result is recognised as incomplete, no process
 * serves it, and a second run of the same command completes. Proves RMA1, RMA2.
 */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, JetStreamObjectStore, Names } from '../../src/adapters/nats/index.js';
import { backup, fileCount, filesBelow, killedWhen, type Lines, linesOf, verified } from '../support/backup-stand.js';
import { MillraceCluster, startPlainNats } from '../support/millrace-cluster.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const KILLS = Number(process.env.CHAOS_BACKUP_KILLS ?? '5');
const MS_FOR_A_KILL = 30_000;
const KEYS = 1500;
const VALUE = 'v'.repeat(6000);
const UNFINISHED = /^millrace( backup)?: a restore into .* did not finish: empty it, and restore the backup again\n$/;

describe('a killed `millrace backup`', function () {
  this.timeout(120_000 + KILLS * MS_FOR_A_KILL);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let millrace: MillraceProcess;
  let environment: Environment;
  let whole: string;
  let key: string;
  let digests: Lines;

  before(async () => {
    console.log(replayLine(seed, 'backup-kills'));
    millrace = await startMillrace({ env: { MILLRACE_SNAPSHOT_ENTRIES: '100' } });
    environment = await embeddedEnvironment(millrace.dataDir);
    for (let n = 0; n < KEYS; n += 50) {
      const some = Array.from({ length: 50 }, (_, i) => ['SET', `key:${n + i}`, `${n + i} ${VALUE}`]);
      const { kind } = await millrace.kv.pipeline(some);
      expect(kind).to.equal('done');
    }
    const dir = await temporaryDirectory();
    [whole, key] = [join(dir, 'whole'), join(dir, 'kept.key')];
    await backup(['create', '--to', whole, '--key-to', key], environment);
    digests = await verified(whole, environment);
  });
  after(() => endEverything());

  const exists = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );

  /** Lines of databases only: statistics of their use continue to change. */
  const ofDatabases = (lines: Lines) => Object.entries(lines).filter(([name]) => name.startsWith('kv:'));

  it('create leaves a backup that verify refuses as incomplete, and a second create completes it', async () => {
    let killed = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const directory = join(await temporaryDirectory(), 'backup');
      const files = random.below(14);
      const isReached = async () => (await fileCount(directory)) > files;
      await killedWhen(['create', '--to', directory], environment, isReached);
      if (!(await exists(join(directory, 'manifest.json')))) {
        killed += 1;
        const { code, stderr } = await runMillrace(['backup', 'verify', directory], environment);
        expect(code).to.equal(1);
        expect(stderr).to.contain('this is no complete backup');
        await backup(['create', '--to', directory], environment);
        expect([...(await filesBelow(directory)).keys()].filter((name) => /part$|incomplete/.test(name))).to.deep.equal(
          [],
        );
      }
      expect(ofDatabases(await verified(directory, environment))).to.deep.equal(ofDatabases(digests));
    }
    expect(killed, 'kills that were in time').to.be.greaterThan(0);
  });

  it('restore leaves a data directory that every command refuses, and a second restore into the emptied directory succeeds', async () => {
    let killed = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const dataDir = join(await temporaryDirectory(), 'data');
      const env = { ...(await embeddedEnvironment(dataDir)), MILLRACE_KV_SHARDS: String(1 + random.below(8)) };
      const restore = ['restore', '--from', whole, '--key-from', key];
      const mark = join(dataDir, 'restore.json');
      const afterMs = random.below(500);
      let markedAtMs: number | undefined;
      await killedWhen(restore, env, async () => {
        if (markedAtMs === undefined && (await exists(mark))) markedAtMs = performance.now();
        return markedAtMs !== undefined && performance.now() - markedAtMs >= afterMs;
      });
      const { state } = JSON.parse(await readFile(mark, 'utf8')) as { state: string };
      if (state === 'running') {
        killed += 1;
        for (const words of [['serve'], ['db', 'list'], ['backup', ...restore]]) {
          const { code, stderr } = await runMillrace(words, env);
          expect(code, words.join(' ')).to.equal(1);
          if (words[0] !== 'db') expect(stderr).to.match(UNFINISHED);
        }
        await rm(dataDir, { recursive: true });
        expect(linesOf(await backup(restore, env))).to.deep.equal(digests);
      }
      const served = await startMillrace({ dataDir, env });
      const n = random.below(KEYS);
      expect(await served.kv.ask('GET', `key:${n}`)).to.equal(`${n} ${VALUE}`);
      expect(await served.kv.ask('DBSIZE')).to.equal(KEYS);
      await served.kill('SIGTERM');
    }
    expect(killed, 'kills that were in time').to.be.greaterThan(0);
  });

  it('restore into a NATS leaves it marked as unfinished, and `millrace serve` refuses it', async () => {
    const nats = await startPlainNats();
    try {
      const cluster = await MillraceCluster.prepare(nats);
      const env = await cluster.environment(await temporaryDirectory());
      const connections = await connect(cluster.natsOptions());
      const objects = new JetStreamObjectStore(connections, new Names(''));
      // Segments are the first objects that are written after the mark, and the mark's end is the last.
      const isUnderWay = async () => (await objects.list('')).length > 0;
      const restore = ['restore', '--from', whole, '--key-from', key];
      const wasKilled = await killedWhen(restore, env, isUnderWay);
      await connections.close();
      expect(wasKilled).to.equal(true);
      const { code, stderr } = await runMillrace(['serve'], env);
      expect(code).to.equal(1);
      expect(stderr).to.match(UNFINISHED);
    } finally {
      await nats.stop();
    }
  });
});
