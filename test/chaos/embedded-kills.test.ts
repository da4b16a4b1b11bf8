/**
 * The embedded default under load, killed repeatedly on one data directory: the process, its nats-server, both, or its
 * compactor. Acknowledged writes are present, and refused writes are absent.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { withEmbeddedNats } from '../support/embedded-nats.js';
import { eventually } from '../support/eventually.js';
import { jobProcessesOf } from '../support/job-processes.js';
import { KvClient } from '../support/kv-client.js';
import { endLedgers, Ledger } from '../support/ledger.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  READONLY_TOKEN,
  runMillrace,
  signalPid,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

type Victim = 'process' | 'server' | 'both' | 'server, then process' | 'compactor';

const VICTIMS: readonly Victim[] = ['process', 'server', 'both', 'server, then process', 'compactor'];
/** The number that CI has time for; CHAOS_KILLS sets another. */
const KILLS = Number(process.env.CHAOS_KILLS ?? '20');
const ACKED_BETWEEN_KILLS = 150;
/** All written keys are read after so many kills, and the newest ones after each. */
const FULL_CHECK_EVERY = 8;
const NEWEST = 2000;
/** A restart, and the replay of the load's entries. */
const BACK_TIMEOUT_MS = 30_000;
const MS_FOR_A_KILL = 15_000;

describe('the embedded default under load', function () {
  this.timeout(60_000 + KILLS * MS_FOR_A_KILL);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let millrace: MillraceProcess;
  let environment: Environment;
  let readers: KvClient[] = [];

  after(async () => {
    endLedgers();
    for (const reader of readers) reader.close();
    await endEverything();
  });

  it(`keeps acknowledged writes and drops refused writes over ${KILLS} kills`, async () => {
    console.log(replayLine(seed, 'embedded-kills'));
    const dataDir = await temporaryDirectory();
    environment = {
      ...(await embeddedEnvironment(dataDir)),
      // Small, so that kills also fall into snapshots that are being made.
      MILLRACE_SNAPSHOT_ENTRIES: '400',
      // On a busy machine, half a second without an update of permissions must not refuse requests.
      MILLRACE_CONTROL_STALE_MS: '5000',
    };
    millrace = await start(dataDir);
    const url = millrace.kvUrl;
    readers = [TOKEN, READONLY_TOKEN].map((token) => new KvClient({ url, token }));
    const ledger = await Ledger.start({ dir: await temporaryDirectory(), urls: [url], token: TOKEN, seed });
    const killed = new Map<Victim, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = kill < VICTIMS.length * 3 ? VICTIMS[kill % VICTIMS.length]! : random.pick(VICTIMS);
      const more = random.below(ACKED_BETWEEN_KILLS) + 20;
      await describeFailure(`kill ${kill}, under load`, () => ledger.progress(more, BACK_TIMEOUT_MS));
      await strike(victim, dataDir, () => ledger.settleUnknown());
      killed.set(victim, (killed.get(victim) ?? 0) + 1);
      const isFull = (kill + 1) % FULL_CHECK_EVERY === 0;
      await describeFailure(`kill ${kill + 1} (${victim})`, () =>
        ledger.check(readers, isFull ? {} : { newest: NEWEST }),
      );
    }
    await ledger.progress(1, BACK_TIMEOUT_MS);
    await ledger.stop();
    await millrace.kill();
    await ledger.settleUnknown();
    for (const when of ['the last kill', 'another restart']) {
      millrace = await start(dataDir);
      await describeFailure(when, () => ledger.check(readers));
      await describeFailure(when, untilSnapshotted);
      await expectSoundHistory();
      await millrace.kill('SIGTERM');
    }
    const counts = await ledger.counts();
    console.log(`      ${JSON.stringify({ ...Object.fromEntries(killed), ...counts })}`);
    expect([...killed.values()].reduce((sum, count) => sum + count, 0)).to.equal(KILLS);
    expect(counts.acked).to.be.greaterThan(KILLS * 20);
    expect(counts.unknown, 'kills that met something in flight').to.be.greaterThan(0);
  });

  async function expectSoundHistory(): Promise<void> {
    const { code, stdout, stderr } = await runMillrace(['journal', 'verify', '--database', 'default'], environment);
    expect(code, `${stdout.toString()}${stderr}`).to.equal(0);
  }

  /** Part of the history is in snapshots by the end, however often their making was cut off. */
  function untilSnapshotted(): Promise<void> {
    return withEmbeddedNats(millrace.dataDir, async (nats) => {
      const { streams } = await jetstreamManager(nats);
      await eventually(async () => expect((await streams.info('OBJ_snapshots')).state.messages).to.be.greaterThan(0), {
        timeoutMs: BACK_TIMEOUT_MS,
        everyMs: 50,
      });
    });
  }

  function start(dataDir: string): Promise<MillraceProcess> {
    return startMillrace({ dataDir, env: environment });
  }

  async function strike(victim: Victim, dataDir: string, onDead: () => Promise<void>): Promise<void> {
    if (victim === 'compactor') return strikeCompactor();
    const server = await millrace.natsPid();
    if (victim !== 'process') signalPid(server, 'SIGKILL');
    if (victim === 'server') {
      await untilItAnswers(dataDir);
      return;
    }
    // At any moment of the server's restart.
    if (victim === 'server, then process') await new Promise((done) => setTimeout(done, random.below(600)));
    await millrace.kill();
    await onDead();
    millrace = await start(dataDir);
  }

  /** Kills the compactor at any moment of its work. Under load it runs now and then. */
  async function strikeCompactor(): Promise<void> {
    const compactor = await eventually(
      async () => {
        const [pid] = await jobProcessesOf(millrace.pid);
        expect(pid, 'a compactor').to.not.equal(undefined);
        return pid!;
      },
      { timeoutMs: BACK_TIMEOUT_MS, everyMs: 5 },
    );
    await new Promise((done) => setTimeout(done, random.below(400)));
    signalPid(compactor, 'SIGKILL');
  }

  /** A process ends if its server crashes too often, as documented: an operator's supervisor starts it again. */
  async function untilItAnswers(dataDir: string): Promise<void> {
    let hasExited = false;
    void millrace.exited.then(() => {
      hasExited = true;
    });
    await eventually(
      async () => {
        if (hasExited) {
          expect(millrace.stderr()).to.contain('nats-server.given-up');
          millrace = await start(dataDir);
          hasExited = false;
        }
        await readers[0]?.ask('GET', 'put:0:1:0');
        await readers[0]?.ask('SET', 'alive', '1');
      },
      { timeoutMs: BACK_TIMEOUT_MS, everyMs: 50 },
    );
  }

  async function describeFailure<T>(when: string, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      throw new Error(`after ${when}: ${(error as Error).message}\n${millrace.stderr().slice(-3000)}`, {
        cause: error,
      });
    }
  }
});
