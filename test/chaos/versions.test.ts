/**
 * The previous version (`infra/previous-version`), built from its commit, and this version in one cluster under load:
 * upgrade, downgrade, upgrade again. Then `millrace cluster upgrade` raises the format level, and the previous version
 * is refused. Proves LFO1, LFO2.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SESSION_UNCHANGED_MS } from '../../src/actors/runtime/index.js';
import { decodeControlEvents } from '../../src/codec/control/index.js';
import { FORMAT_LEVEL } from '../../src/kernel/index.js';
import type { ClusterStatus } from '../../src/ports/index.js';
import { CONTROL_SHARD, entrySections } from '../../src/protocol/index.js';
import { judgeCluster } from '../support/cluster-load/cluster-judge.js';
import { ClusterLoad } from '../support/cluster-load/cluster-load.js';
import { ClusterStand } from '../support/cluster-load/cluster-stand.js';
import { waitForNoFailures } from '../support/cluster-load/measured.js';
import { summaryOf } from '../support/cluster-load/outcomes.js';
import { eventually } from '../support/eventually.js';
import { endEverything, expectServeRefused, temporaryDirectory } from '../support/millrace-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const BEFORE = readFileSync('infra/previous-version', 'utf8').trim();
const BUILT = join(process.cwd(), '.cache/previous');
const PROGRAM_BEFORE = join(BUILT, 'dist/src/cli/main.js');
const MINUTE_MS = 60_000;
/** A busy machine leaves a process without its permissions for a moment. */
const MAY_BE_REFUSED_OF = 200;
const READY = { timeoutMs: MINUTE_MS, everyMs: 50 };
/**
 * The record of a process stays this long if the process lost its session, or its time to end was over before it removed the
 * record.
 */
const FORGOTTEN = { timeoutMs: SESSION_UNCHANGED_MS + MINUTE_MS, everyMs: 5000 };

describe('a cluster of two versions', function () {
  this.timeout(14 * MINUTE_MS);
  const seed = seedOfThisRun();
  let stand: ClusterStand;
  let load: ClusterLoad | undefined;

  before(async function () {
    console.log(replayLine(seed, 'versions'));
    const run = promisify(execFile);
    const there = await run('git', ['cat-file', '-e', `${BEFORE}^{commit}`]).catch(() => undefined);
    if (there === undefined) {
      console.log(`      this clone has no commit ${BEFORE}: the version before cannot be built, and is not tried`);
      this.skip();
    }
    await run('infra/build-commit.sh', [BEFORE, BUILT]);
    // A process announces its end first, as by default. The previous version has ten seconds to end by default; one that
    // is cut off leaves the record of its session, which delays `cluster upgrade` by ten minutes.
    const times = { MILLRACE_DRAIN_NOTICE_MS: '', MILLRACE_SHUTDOWN_MS: '30000' };
    stand = await ClusterStand.start(times, { program: PROGRAM_BEFORE });
    load = await ClusterLoad.start(stand, seededRandom(seed), true);
  });
  after(async () => {
    load?.close();
    await stand?.stop();
    await endEverything();
  });

  it('starts with the previous version at format level 1', async () => {
    await waitForNoFailures(stand, load as ClusterLoad);
    const { format, processes } = await status();
    expect(format).to.equal(1);
    expect(processes.map(({ readsFormat }) => readsFormat)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('is upgraded one process at a time without an unknown outcome', () => roll(['a', 'b', 'c'], undefined));

  it('is downgraded while the format level is still 1', () => roll(['a'], PROGRAM_BEFORE));

  it('refuses `millrace cluster upgrade` while a process of the previous version runs, and names it', async () => {
    const { processes } = await status();
    const old = processes.find(({ readsFormat, version }) => readsFormat === undefined && version !== undefined);
    const refused = await stand.cluster.run(['cluster', 'upgrade']);
    expect([refused.code, refused.stdout.toString()]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/^millrace cluster: format level \d+ is not read by [^\n]+\n$/);
    expect(refused.stderr).to.contain(`${old?.process} (version ${old?.version}, ${old?.host}:${old?.pid},`);
    expect((await status()).format).to.equal(1);
  });

  it('is upgraded again after the downgrade', () => roll(['a'], undefined));

  it('raises the format level once when every process reads it, in the journal and in the audit log', async () => {
    for (let twice = 0; twice < 2; twice += 1) {
      const raised = await eventually(async () => {
        const { stdout, stderr } = await stand.cluster.run(['cluster', 'upgrade']);
        expect(stderr).to.equal('');
        return stdout;
      }, FORGOTTEN);
      expect(raised.toString()).to.match(new RegExp(`^format level ${FORMAT_LEVEL} is in force`));
    }
    expect((await status()).format).to.equal(FORMAT_LEVEL);
    const journal = await stand.cluster.reader();
    const entries = await journal.entries(CONTROL_SHARD);
    await journal.close();
    const events = entries.flatMap(({ entry }) =>
      entrySections(entry).flatMap(({ effects }) => [...decodeControlEvents(effects)]),
    );
    const at = events.findIndex(({ type }) => type === 'FormatRaised');
    expect(events[at]).to.include({ level: FORMAT_LEVEL }).with.property('by').that.contains('@');
    expect(events[at + 1]).to.include({ type: 'AuditNoted', actor: 'operator', entity: `level ${FORMAT_LEVEL}` });
    expect(events.slice(at + 1).some(({ type }) => type === 'FormatRaised')).to.equal(false);
  });

  it('refuses a process of the previous version after the upgrade, with one line', async () => {
    const env = await stand.cluster.environment(await temporaryDirectory());
    const why = `this installation has format level ${FORMAT_LEVEL}, and this program reads up to 1`;
    await expectServeRefused(env, why, PROGRAM_BEFORE);
  });

  it('has kept every acknowledged write', async () => {
    await waitForNoFailures(stand, load as ClusterLoad);
    await judgeCluster(stand, load as ClusterLoad);
  });

  async function status(): Promise<ClusterStatus> {
    const { code, stdout, stderr } = await stand.cluster.run(['cluster', 'status', '--json']);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout.toString()) as ClusterStatus;
  }

  /** Replaces processes one after the other. No client gets an unknown outcome, and almost none a refusal. */
  async function roll(names: readonly string[], program: string | undefined): Promise<void> {
    const fromMs = Date.now();
    for (const name of names) await replace(name, program);
    await waitForNoFailures(stand, load as ClusterLoad);
    const outcomes = (load as ClusterLoad).log.between(fromMs, Date.now());
    // A successor of the previous version does not report that the owner before it had handed over, so the outcome of a
    // PUBLISH may be unknown.
    const told = outcomes.filter(({ verb, kind }) => verb !== 'PUBLISH' || kind !== 'unknown');
    const { calls, refused, unknown, codes, gapMs, worstMs } = summaryOf(told, fromMs);
    console.log(`      ${calls} calls, gap ${Math.round(gapMs)} ms, worst ${Math.round(worstMs)} ms`);
    expect(unknown, JSON.stringify(codes)).to.equal(0);
    expect(refused, JSON.stringify(codes)).to.be.at.most(Math.ceil(calls / MAY_BE_REFUSED_OF));
  }

  async function replace(name: string, program: string | undefined): Promise<void> {
    await stand.endProcess(name, 'SIGTERM');
    const { metricsUrl } = await stand.startProcess(name, program);
    await eventually(async () => expect((await fetch(`${metricsUrl}/readyz`)).status).to.equal(200), READY);
  }
});
