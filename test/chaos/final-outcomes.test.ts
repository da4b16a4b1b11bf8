/**
 * An answer stays true: a command that was answered `outcome=unknown` is not executed later. The test looks a thousand
 * times on an overloaded machine, while owners are frozen, killed, and replaced by a handover. CHAOS_LOOKS sets the
 * number of looks of each kind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { MillraceCluster, type NatsFacts, ownerOf, startPlainNats } from '../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, PASSWORD, TOKEN } from '../support/millrace-process.js';
import { type LookCounts, OutcomeLooks } from '../support/outcome-looks.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const LOOKS = Number(process.env.CHAOS_LOOKS ?? '360');
const BACK_TIMEOUT_MS = 30_000;
/** Below the silence that causes a takeover, so that a stopped process continues as the owner. */
const STILL_MS = { low: 300, high: 1300 };
/** Short enough that many commands are answered with its expiry. */
const HOLD_MS = 800;
const BUSY_LOOPS = 3;

describe('the answer to a command stays true', function () {
  this.timeout(60_000 + LOOKS * 300);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let looks: OutcomeLooks;
  let edge: MillraceProcess;
  let respPort: number;
  const busy: ChildProcess[] = [];

  before(async () => {
    console.log(replayLine(seed, 'final-outcomes'));
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, {
      MILLRACE_REQUEST_HOLD_MS: String(HOLD_MS),
      // Refusing requests because permissions may be old would hide the outcomes of commands.
      MILLRACE_CONTROL_STALE_MS: '60000',
    });
    respPort = await freePort();
    await Promise.all([owner(), owner()]);
    edge = await cluster.start({ MILLRACE_ROLES: 'edge', MILLRACE_RESP_PORT: String(respPort) });
    cluster.processes.splice(cluster.processes.indexOf(edge), 1);
    await served();
  });
  beforeEach(async () => {
    await served();
    looks = new OutcomeLooks({
      prefix: `look:${random.below(1e9)}`,
      url: edge.kvUrl,
      respPort,
      token: TOKEN,
      password: PASSWORD,
      width: 90,
    });
  });
  afterEach(() => {
    looks?.close();
    for (const child of busy.splice(0)) child.kill('SIGKILL');
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  it('while owners are frozen on an overloaded machine', async () => {
    for (let count = 0; count < BUSY_LOOPS; count += 1) busy.push(spawn(process.execPath, ['-e', 'for (;;);']));
    await lookWhile(async () => {
      const still = await ownerNow();
      await still.freeze();
      await pause(STILL_MS.low + random.below(STILL_MS.high - STILL_MS.low));
      still.thaw();
      await pause(random.below(700));
    });
  });

  it('while owners are killed', async () => {
    await lookWhile(async () => {
      const victim = await ownerNow();
      cluster.processes.splice(cluster.processes.indexOf(victim), 1);
      await victim.kill('SIGKILL');
      await Promise.all([owner(), served()]);
    });
  });

  it('while owners hand over their shards, and no answer is "unknown"', async () => {
    const { unknown } = await lookWhile(async () => {
      const leaving = await ownerNow();
      cluster.processes.splice(cluster.processes.indexOf(leaving), 1);
      await Promise.all([leaving.kill('SIGTERM'), owner()]);
    });
    expect(unknown).to.equal(0);
  });

  /** Repeats the fault until enough outcomes were checked. */
  async function lookWhile(strike: () => Promise<void>): Promise<LookCounts> {
    const { counts } = looks;
    looks.start();
    while (counts.looks < LOOKS) await strike();
    for (const child of busy.splice(0)) child.kill('SIGKILL');
    await looks.stop();
    await served();
    console.log(`      ${JSON.stringify({ ...counts, slowestMs: Math.round(counts.slowestMs) })}`);
    expect(await eventually(() => looks.violations(), { timeoutMs: BACK_TIMEOUT_MS })).to.deep.equal([]);
    return counts;
  }

  /** A process that was started serves a moment after it is ready. */
  function ownerNow(): Promise<MillraceProcess> {
    return eventually(async () => ownerOf('KV_0', cluster.processes), { timeoutMs: BACK_TIMEOUT_MS });
  }

  function owner(): Promise<MillraceProcess> {
    return cluster.start({ MILLRACE_ROLES: 'kv' });
  }

  async function served(): Promise<void> {
    await eventually(() => edge.kv.ask('SET', 'is', 'served'), { timeoutMs: BACK_TIMEOUT_MS });
  }
});

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
