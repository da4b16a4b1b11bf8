/**
 * Workers that are killed and replaced under a light load. WORKER_FAULTS=20 also kills, freezes and ends them at random;
 * RELOADS is the number of reloads in a row.
 * Proves SUL1, SUP1, WPO1–WPO3, WPR1, WPR2.
 */
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { identifyProcess } from '../../src/adapters/nats/embedded/process-identity.js';
import { countUntil } from '../support/counting-client.js';
import { eventually } from '../support/eventually.js';
import { runMillrace, signalPid } from '../support/millrace-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';
import { WorkerLoad } from '../support/worker-load.js';
import { WorkersLoad } from '../support/workers-load.js';
import { type WorkerFault, WorkersStand } from '../support/workers-stand.js';

/** A light load. */
const BETWEEN_WRITES_MS = 20;
const RELOADS = Number(process.env.RELOADS ?? '20');
/** It takes 80 s on two cores, and much longer if other programs use them. */
const LONG_MS = 900_000;
const CRASH = /"event":"worker.ended".*"reason":"exit code 3"/g;
/** After the kill of one worker. */
const MORE_FAULTS = Number(process.env.WORKER_FAULTS ?? '0');
const FAULT_MS = 60_000;

describe('the supervisor of two workers', () => {
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let stand: WorkersStand;

  before(async () => {
    console.log(replayLine(seed, 'workers'));
    stand = await WorkersStand.start();
    expect(await stand.rest.set('kept', 2)).to.equal('OK');
  });
  after(() => stand?.end());

  async function reload(args: readonly string[] = [], environment = stand.environment): Promise<void> {
    const { code, stdout } = await runMillrace(['reload', ...args], environment, { timeoutMs: 250_000 });
    expect([code, stdout.toString()]).to.deep.equal([0, 'all workers are replaced\n']);
  }

  async function strike(): Promise<void> {
    const kind = random.pick(['kill', 'freeze', 'end'] as const satisfies readonly WorkerFault[]);
    const startedAt = performance.now();
    await stand.strike(kind, random.pick(await stand.workers()));
    console.log(`      ${kind}: both serve after ${Math.round(performance.now() - startedAt)} ms`);
  }

  /** Shards that the current workers have taken over. */
  async function takenShards(): Promise<number> {
    const counts = await stand.metric(/^millrace_takeovers_total\{/);
    return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  it('replaces all workers at millrace reload, with new settings, without a failed request or an unknown outcome', async () => {
    const before = await stand.workers();
    const settings = { ...stand.environment, MILLRACE_LOG_LEVEL: 'error' };
    const { rest, resp, delivered, runs } = await WorkersLoad.during(stand, () => reload(['--settings'], settings));
    for (const count of [rest, resp, delivered, runs]) expect(count).to.be.greaterThan(10);
    const after = await stand.workers();
    expect(after).to.have.length(2).and.not.include.members(before);
    // Only the ready lines of the first start.
    expect(stand.installation.stderr().match(/"event":"process.ready","worker"/g)).to.have.length(2);
  });

  it('moves each shard once at millrace reload, from the worker to its successor', async () => {
    await reload();
    expect(await takenShards()).to.equal(stand.shards);
  });

  it(`replaces all workers at ${RELOADS} reloads in a row without a failed request, a lost or repeated delivery, or a lost run`, async function () {
    this.timeout(LONG_MS);
    const before = await stand.workers();
    await WorkersLoad.during(stand, async () => {
      for (let count = 1; count <= RELOADS; count += 1) await reload();
    });
    expect(await takenShards()).to.equal(stand.shards);
    expect(await stand.workers())
      .to.have.length(2)
      .and.not.include.members(before);
  });

  it('keeps the old workers when a new program ends at each start', async () => {
    const before = await stand.workers();
    await stand.install('process.exit(3);');
    const { code, stderr } = await runMillrace(['reload'], stand.environment);
    expect([code, stderr]).to.deep.equal([
      1,
      'millrace: the new worker 1 does not serve, and the old ones stay: exit code 3\n',
    ]);
    await stand.install();
    expect(await stand.workers()).to.have.members(before);
    expect(await stand.rest.get('kept')).to.equal(2);
  });

  it('keeps each acknowledged write and a linearizable history when a worker is killed; at the other one no request fails, and at most one outcome is unknown', async function () {
    this.timeout((1 + MORE_FAULTS) * FAULT_MS);
    const acknowledged: string[] = [];
    let slowestMs = 0;
    const end = { isOver: false };
    const { token, password } = await stand.spreadDatabase();
    const load = new WorkerLoad({ url: stand.installation.addresses.kv ?? '', token }, random);
    const clients = await stand.clientsOfWorkers(password);
    const counting = Promise.all(clients.map((client, at) => countUntil(client, `count-${at}`, end)));
    const writing = (async () => {
      for (let n = 0; !end.isOver; n += 1) {
        const startedAt = performance.now();
        await eventually(() => stand.native.set(`key-${n}`, n));
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        acknowledged.push(`key-${n}`);
        await setTimeout(BETWEEN_WRITES_MS);
      }
    })();
    const [victim] = await stand.workers();
    signalPid(victim as number, 'SIGKILL');
    await eventually(async () => expect(await stand.metric(/^millrace_worker_restarts_total 1$/)).to.have.length(1));
    end.isOver = true;
    await writing;
    const counted = await counting;
    for (const client of clients) client.disconnect();
    expect(counted.filter(({ isClosed }) => isClosed)).to.have.length(1);
    // The killed worker may have stored one increment without an answer.
    expect(counted.filter(({ isClosed }) => !isClosed)[0]?.unknown).to.be.within(0, 1);
    expect(slowestMs).to.be.lessThan(10_000);
    for (let count = 0; count < MORE_FAULTS; count += 1) await strike();
    expect(load.recorded).to.be.greaterThan(0);
    expect(await load.end()).to.deep.equal(['linearizable', 'linearizable', 'linearizable']);
    expect(await stand.native.exists(...acknowledged)).to.equal(acknowledged.length);
    expect(stand.installation.stderr()).to.match(/"event":"worker.ended".*"reason":"signal SIGKILL"/);
    // If that worker had the read models, another one has them now.
    await eventually(() => stand.queue.logs());
  });

  it('serves with the other worker while one crashes at each start, and with both after the program is repaired', async () => {
    await eventually(async () => expect(await stand.metric(/^millrace_workers 2$/)).to.have.length(1), {
      timeoutMs: 60_000,
    });
    await stand.install('process.exit(3);');
    const before = stand.installation.stderr().match(CRASH)?.length ?? 0;
    const [victim, other] = await stand.workers();
    signalPid(victim as number, 'SIGKILL');
    await eventually(() => expect(stand.installation.stderr().match(CRASH) ?? []).to.have.length.above(before + 2));
    expect(await stand.workers()).to.include(other);
    const keys = Array.from({ length: 32 }, (_, at) => `crash-${at}`);
    for (const key of keys) expect(await stand.rest.incr(key)).to.equal(1);
    await eventually(async () => expect(await stand.metric(/^millrace_workers 1$/)).to.have.length(1));
    await stand.install();
    await eventually(async () => expect(await stand.metric(/^millrace_workers 2$/)).to.have.length(1), {
      timeoutMs: 60_000,
    });
    for (const key of keys) expect(await stand.rest.incr(key)).to.equal(2);
  });

  it('leaves no process when the supervisor is killed, not even a frozen worker after the next start, which has all data', async () => {
    const [frozen = 0, ...others] = await stand.workers();
    const natsPid = await stand.installation.natsPid();
    signalPid(frozen, 'SIGSTOP');
    await stand.installation.kill('SIGKILL');
    await eventually(async () => {
      for (const pid of [...others, natsPid]) expect(await identifyProcess(pid)).to.equal(undefined);
    });
    await stand.serve();
    expect(await identifyProcess(frozen)).to.equal(undefined);
    expect(await stand.rest.get('kept')).to.equal(2);
  });
});
