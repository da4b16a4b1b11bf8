/** `millrace cluster` status, move and drain on three processes. */
import { expect } from 'chai';
import type { ClusterStatus, ProcessStatus } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../../support/millrace-cluster.js';
import {
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';

const EMAIL = 'operator@tests.example';
const KEY = 'mrk_of-the-tests-0123456789abcdef';
const SHARDS = ['CONTROL', 'KV_0', 'KV_1', 'KV_2', 'KV_3', 'QUEUE_0', 'QUEUE_1'];
const SETTINGS = {
  MILLRACE_KV_SHARDS: '4',
  MILLRACE_QUEUE_SHARDS: '2',
  MILLRACE_MGMT_EMAIL: EMAIL,
  MILLRACE_MGMT_KEY: KEY,
};
const MOVED_WITHIN = { timeoutMs: 60_000, everyMs: 200 };

describe('millrace cluster, with three processes', function () {
  this.timeout(120_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, SETTINGS);
    for (let count = 0; count < 3; count += 1) await cluster.start();
    await eventually(async () => {
      const { shards, processes } = await status();
      expect(shards.every(({ state }) => state === 'serving')).to.equal(true);
      expect(processes.filter(({ state }) => state === 'ready')).to.have.length(3);
    }, MOVED_WITHIN);
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  /**
   * The state that the last process reports, once each process has answered it: on a busy machine an answer may be late
   * once. It is read through the API, because a command takes seconds on such a machine.
   */
  const status = () =>
    eventually(async () => {
      const seen = await seenBy(cluster.processes.at(-1) as MillraceProcess);
      expect(seen.processes.map(({ pid }) => pid)).to.include.members(cluster.processes.map(({ pid }) => pid));
      return seen;
    }, MOVED_WITHIN);
  const shownByCommand = async (): Promise<ClusterStatus> => {
    const { code, stdout, stderr } = await cluster.run(['cluster', 'status', '--json']);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout.toString()) as ClusterStatus;
  };
  const ownedBy = ({ shards }: ClusterStatus, process: string) =>
    shards.filter(({ owner }) => owner === process).map(({ shard }) => shard);
  const busiest = ({ processes }: ClusterStatus): ProcessStatus =>
    [...processes].sort((a, b) => b.ownedShards - a.ownedShards)[0] as ProcessStatus;
  const atPort = ({ addresses }: MillraceProcess) => addresses.mgmt as string;
  const seenBy = async (process: MillraceProcess): Promise<ClusterStatus> => {
    const headers = { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` };
    const answer = await fetch(`${atPort(process)}/v2/admin/cluster`, { headers });
    expect(answer.status).to.equal(200);
    return (await answer.json()) as ClusterStatus;
  };
  const processOf = ({ processes }: ClusterStatus, { pid }: MillraceProcess) =>
    (processes.find((one) => one.pid === pid) as ProcessStatus).process;

  it('status shows every process, shard, server and stream, as the API of each process does', async () => {
    await cluster.processes[0]?.kv.ask('SET', 'k', 'v');
    const shown = await shownByCommand();
    expect(shown.alarms).to.deep.equal([]);
    expect(shown.processes.map(({ pid }) => pid)).to.have.members(cluster.processes.map(({ pid }) => pid));
    for (const { version, roles, checks } of shown.processes) {
      expect(version).to.match(/^\d/);
      expect(roles).to.include('kv');
      expect(checks?.every(({ ok }) => ok)).to.equal(true);
    }
    expect(shown.shards.map(({ shard }) => shard)).to.deep.equal(SHARDS);
    const written = shown.shards.filter(({ lastStoreMs = 0 }) => lastStoreMs > 0);
    expect(written.length, 'shards with a stored entry').to.be.greaterThan(0);
    expect(shown.servers).to.have.length(1);
    expect(shown.servers[0]).to.include({ state: 'well', hasSyncAlways: true });
    expect(shown.streams.map(({ stream }) => stream)).to.include.members([...SHARDS, 'METER', 'leases', 'snapshots']);
    for (const process of cluster.processes) {
      const seen = await seenBy(process);
      expect(ownersIn(seen)).to.deep.equal(ownersIn(shown));
    }
    const table = (await cluster.run(['cluster', 'status'])).stdout.toString();
    expect(table).to.match(/^cluster \S+: no alarms\n/);
    for (const { process } of shown.processes) expect(table).to.contain(process);
  });

  it('move keeps a shard at a process until the wish is removed', async () => {
    const before = await status();
    const from = before.shards.find(({ shard }) => shard === 'KV_1')?.owner;
    const to = before.processes.find(({ process }) => process !== from)?.process as string;
    for (let twice = 0; twice < 2; twice += 1) {
      const moved = await cluster.run(['cluster', 'move', 'KV_1', to]);
      expect([moved.code, moved.stdout.toString()]).to.deep.equal([0, `KV_1 is served by ${to}\n`]);
    }
    const now = await status();
    expect(now.shards.find(({ shard }) => shard === 'KV_1')).to.include({ owner: to, wished: to, state: 'serving' });
    expect(now.moves).to.have.length(1);
    expect(now.moves[0]?.by).to.contain('@');
    expect((await cluster.run(['cluster', 'move', 'KV_1', 'anywhere'])).code).to.equal(0);
    await eventually(async () => expect(ownersIn(await status()).get('KV_1')).to.equal(from), MOVED_WITHIN);
  });

  it('drain moves all shards away from a process, which still serves requests, and undrain brings them back', async () => {
    const before = await status();
    const { process, pid } = busiest(before);
    const drained = await cluster.run(['cluster', 'drain', process]);
    expect(drained.code, drained.stderr).to.equal(0);
    const now = await status();
    expect(ownedBy(now, process)).to.deep.equal([]);
    expect(now.shards.every(({ state }) => state === 'serving')).to.equal(true);
    expect(now.processes.find((one) => one.process === process)).to.include({ isDrained: true, state: 'ready' });
    const edge = cluster.processes.find((one) => one.pid === pid) as MillraceProcess;
    expect(await edge.kv.ask('SET', 'by-a-drained-edge', 'yes')).to.equal('OK');
    expect(await ownedMetrics(edge)).to.deep.equal([]);
    expect((await cluster.run(['cluster', 'undrain', process])).code).to.equal(0);
    await eventually(async () => expect(ownersIn(await status())).to.deep.equal(ownersIn(before)), MOVED_WITHIN);
    for (const one of cluster.processes) {
      const own = processOf(before, one);
      expect(await ownedMetrics(one)).to.deep.equal(ownedBy(before, own).sort());
    }
  });

  it('no request is lost while shards move', async () => {
    const { processes } = await status();
    const wished = processes.slice(0, 2);
    const [edge] = cluster.processes as [MillraceProcess];
    let isDone = false;
    let increments = 0;
    await edge.kv.ask('SET', 'moved', '0');
    const asking = (async () => {
      while (!isDone) {
        await edge.kv.ask('INCR', 'moved');
        increments += 1;
      }
    })();
    for (const { process } of wished) {
      const { code, stderr } = await cluster.run(['cluster', 'drain', process]);
      expect(code, stderr).to.equal(0);
      await cluster.run(['cluster', 'undrain', process]);
    }
    isDone = true;
    await asking;
    expect(Number(await edge.kv.ask('GET', 'moved'))).to.equal(increments);
  });

  it('an impossible move or drain is refused in one line', async () => {
    const { processes } = await status();
    const [one = '', other = '', last = ''] = processes.map(({ process }): string => process);
    const refusals: [readonly string[], number, RegExp][] = [
      [['move', 'KV_9', one], 2, /^millrace cluster: there is no shard KV_9; the shards are CONTROL, KV_0/],
      [
        ['move', 'KV_0', 'node-nobody'],
        1,
        /^millrace cluster: there is no process node-nobody; the processes are node-/,
      ],
      [['drain', 'node-'], 1, /^millrace cluster: 3 names of processes begin with node-: /],
      [['drain'], 2, /^millrace cluster: missing required argument 'process'/],
      [['move', 'KV_0'], 2, /^millrace cluster: missing required argument 'process'/],
    ];
    for (const [words, code, text] of refusals) {
      const refused = await cluster.run(['cluster', ...words]);
      expect([words, refused.code]).to.deep.equal([words, code]);
      expect(refused.stderr).to.match(text);
    }
    for (const process of [one, other]) expect((await cluster.run(['cluster', 'drain', process])).code).to.equal(0);
    expect((await cluster.run(['cluster', 'drain', last])).stderr).to.match(
      /no other process that may own shards answers/,
    );
    expect((await cluster.run(['cluster', 'move', 'KV_0', one])).stderr).to.match(/is drained: undrain it first/);
    for (const process of [one, other]) await cluster.run(['cluster', 'undrain', process]);
  });

  it('status shows a killed process as gone, and its shards at the others', async () => {
    const [killed] = cluster.processes as [MillraceProcess];
    const process = processOf(await status(), killed);
    // It was drained a moment ago. A process is only reported as gone after a takeover of its shards, so it must own some.
    await eventually(async () => expect(ownedBy(await status(), process)).to.not.deep.equal([]), MOVED_WITHIN);
    const witness = cluster.processes[1] as MillraceProcess;
    await killed.kill('SIGKILL');
    cluster.processes.shift();
    const seen = await seenBy(witness);
    expect(seen.processes.find((one) => one.process === process)?.state).to.match(/silent|gone/);
    await eventually(async () => {
      const { shards, processes } = await seenBy(witness);
      expect(processes.find((one) => one.process === process)?.state).to.equal('gone');
      expect(shards.every(({ owner, state }) => owner !== process && state === 'serving')).to.equal(true);
    }, MOVED_WITHIN);
  });

  function ownersIn({ shards }: ClusterStatus): Map<string, string | undefined> {
    return new Map(shards.map(({ shard, owner }) => [shard, owner]));
  }

  /** Shards that the metrics of the process say are its own. */
  async function ownedMetrics({ metricsUrl }: MillraceProcess): Promise<string[]> {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    return [...text.matchAll(/^millrace_shard_owned\{shard="(\w+)"\} 1$/gm)].map(([, shard]) => shard as string).sort();
  }
});

describe('millrace cluster, with one process', function () {
  this.timeout(60_000);
  after(endEverything);

  it('status shows one process and its embedded nats-server', async () => {
    const dataDir = await temporaryDirectory();
    const { pid } = await startMillrace({ dataDir });
    const { code, stdout, stderr } = await runMillrace(
      ['cluster', 'status', '--json'],
      await embeddedEnvironment(dataDir),
    );
    expect(code, stderr).to.equal(0);
    const { alarms, processes, servers } = JSON.parse(stdout.toString()) as ClusterStatus;
    expect(alarms).to.deep.equal([]);
    expect(processes.map((one) => one.pid)).to.deep.equal([pid]);
    expect(servers.map(({ state }) => state)).to.deep.equal(['well']);
  });
});
