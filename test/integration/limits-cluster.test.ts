/** Limits of a database in a cluster of two processes, one of which owns its data. */
import 'reflect-metadata';
import { expect } from 'chai';
import { type ReachedInstallation, reachInstallation } from '../../src/cli/reached-installation.js';
import { loadConfig } from '../../src/config/index.js';
import type { DatabaseChange } from '../../src/domain/control/index.js';
import { eventually } from '../support/eventually.js';
import { describeOutcome, type KvClient } from '../support/kv-client.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, temporaryDirectory } from '../support/millrace-process.js';
import { withinASecond } from '../support/within-a-second.js';

describe('limits of a database in a cluster of two processes', function () {
  this.timeout(60_000);
  let nats: NatsFacts;
  let installation: ReachedInstallation;
  let processes: readonly MillraceProcess[];
  let clients: readonly KvClient[];

  before(async () => {
    nats = await startPlainNats();
    // This test kills no process; a slow process on a busy machine must not be taken for dead either.
    const cluster = await MillraceCluster.prepare(nats, { MILLRACE_TAKEOVER_SILENCE_MS: '15000' });
    processes = [await cluster.start(), await cluster.start()];
    clients = processes.map(({ kv }) => kv);
    for (const kv of clients) await eventually(() => kv.ask('SET', 'settled', 'yes'), { timeoutMs: 20_000 });
    const environment = await cluster.environment(await temporaryDirectory());
    installation = await reachInstallation(loadConfig(environment).config, true);
  });
  after(async () => {
    await installation?.close();
    await endEverything();
    await nats?.stop();
  });

  async function change(what: DatabaseChange): Promise<void> {
    const listed = await installation.client.send({ type: 'ListDatabases' });
    const [first] = listed.type === 'Databases' ? listed.databases : [];
    if (first === undefined) throw new Error('there is no database');
    const { id: database, account } = first.database;
    const reply = await installation.client.send({ type: 'ChangeDatabase', account, database, change: what });
    expect(reply.type, JSON.stringify(reply)).to.equal('OneDatabase');
  }

  /** The answer of each process. */
  const answers = (...words: string[]): Promise<string[]> =>
    Promise.all(clients.map(async (kv) => describeOutcome(await kv.command(...words))));

  async function everywhereWithinASecond(words: string[], what: RegExp): Promise<void> {
    await withinASecond(processes, async () => {
      for (const answer of await answers(...words)) expect(answer).to.match(what);
    });
  }

  it('suspension closes the database at both processes within a second, and its end opens it again', async () => {
    await change({ settings: { isSuspended: true } });
    await everywhereWithinASecond(['GET', 'settled'], /suspended/);
    await change({ settings: { isSuspended: false } });
    await everywhereWithinASecond(['GET', 'settled'], /yes/);
  });

  it('the data limit refuses writes at both processes', async () => {
    await change({ limits: { maxDataBytes: 1 } });
    await everywhereWithinASecond(['SET', 'more', 'x'], /capacity quota exceeded/);
    await everywhereWithinASecond(['GET', 'settled'], /yes/);
    await change({ limits: { maxDataBytes: 0 } });
    await everywhereWithinASecond(['SET', 'more', 'x'], /OK/);
  });

  it('the rate limit lets each process run commands at the full rate', async () => {
    await change({ limits: { maxCommandsPerSecond: 25 } });
    // A busy machine may be slow in one try, but not in each.
    await eventually(async () => {
      const startedAtMs = performance.now();
      const asked = clients.flatMap((kv) => Array.from({ length: 75 }, () => kv.ask('GET', 'settled')));
      expect(new Set(await Promise.all(asked))).to.deep.equal(new Set(['yes']));
      // One process alone would need nearly 6 s for the commands of both.
      expect(performance.now() - startedAtMs).to.be.within(2500, 5500);
    });
    await change({ limits: { maxCommandsPerSecond: 0 } });
  });
});
