/**
 * An owner that is stopped (SIGSTOP) for longer than a takeover takes, and continues in the belief that it still owns
 * the shard. It answers no stale read and appends no entry.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import type { JournalReader } from '../support/journal-reader.js';
import { ownershipViolations } from '../support/journal-reader.js';
import { describeOutcome, KvClient, type Outcome } from '../support/kv-client.js';
import {
  MillraceCluster,
  type NatsFacts,
  ownerOf,
  servingEpochOf,
  startPlainNats,
  TAKEOVER_MS,
} from '../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, TOKEN } from '../support/millrace-process.js';
import { startNatsCluster } from '../support/nats-cluster.js';
import { findNatsServer, natsServerVersion } from '../support/nats-server.js';

const SHARD = 'KV_0';
const ROUNDS = 3;
/** Requests sent to the first process while it is stopped, so that it finds them in its sockets when it wakes. */
const QUEUED_READS = 20;
const QUEUED_WRITES = 5;
/**
 * A process that was stopped refuses everything at first, because its permissions are too old. That would hide the effect of
 * the lease, so this bound is longer than the stop.
 */
const ONLY_THE_LEASE = { MILLRACE_CONTROL_STALE_MS: '60000' };
/** A takeover, the quiet time after it, and a leader's election in a cluster of three. */
const TAKEOVER_TIMEOUT_MS = 20_000;

const worlds: { name: string; settings: Record<string, string>; start: () => Promise<NatsFacts> }[] = [
  { name: 'one nats-server', settings: {}, start: startPlainNats },
  { name: 'three nats-servers and three replicas', settings: { MILLRACE_REPLICAS: '3' }, start: startThree },
];

for (const world of worlds) {
  describe(`an owner that is stopped and continued after a takeover, on ${world.name}`, function () {
    this.timeout(240_000);
    let nats: NatsFacts | undefined;
    let cluster: MillraceCluster;
    let journal: JournalReader | undefined;

    before(async function () {
      if (natsServerVersion().startsWith('2.9.') && world.settings.MILLRACE_REPLICAS === '3') this.skip();
      nats = await world.start();
      cluster = await MillraceCluster.prepare(nats, { ...world.settings, ...ONLY_THE_LEASE });
      await cluster.start();
      await cluster.start();
      journal = await cluster.reader();
    });
    after(async () => {
      await journal?.close();
      await endEverything();
      await nats?.stop();
    });

    for (let round = 1; round <= ROUNDS; round += 1) {
      it(`answers no stale read and appends no entry (${round} of ${ROUNDS})`, async () => {
        const { first, second } = await settled(cluster, round);
        await first.kv.ask('SET', 'value', 'before');
        await first.kv.ask('SET', 'counter', '0');
        const firstEpoch = servingEpochOf(first, SHARD);

        const client = await connectedClient(first);
        await first.freeze();
        const asked = sendWhileFrozen(client);
        await eventually(
          async () => {
            await second.kv.ask('SET', 'value', 'after');
            expect(servingEpochOf(second, SHARD)).to.be.greaterThan(firstEpoch);
          },
          { timeoutMs: TAKEOVER_TIMEOUT_MS, everyMs: 100 },
        );
        first.thaw();

        for (const answer of await Promise.all(asked.reads)) expectNotStale(answer);
        await readThrough(first, second);
        // The process has a new session now, and serves requests like the others.
        await eventually(() => first.kv.ask('GET', 'moving'), { timeoutMs: TAKEOVER_TIMEOUT_MS });
        const writes = await Promise.all(asked.writes);
        await expectCounted(second, writes);
        const entries = (await journal?.entries(SHARD)) ?? [];
        expect(ownershipViolations(entries)).to.deep.equal([]);
        expect(await journal?.findings(SHARD)).to.deep.equal([]);
        const claim = entries.find(({ entry }) => entry.epoch > firstEpoch);
        const late = entries.filter(({ entry, position }) => entry.epoch <= firstEpoch && position > claim!.position);
        expect(late.map(({ position }) => position)).to.deep.equal([]);
      });
    }
  });
}

/** Two living processes, and which of them owns. */
async function settled(cluster: MillraceCluster, round: number) {
  const alive = cluster.processes;
  return eventually(
    async () => {
      for (const { kv } of alive) await kv.ask('SET', 'settled', round);
      const first = ownerOf(SHARD, alive);
      const second = alive.find((other) => other !== first) as MillraceProcess;
      return { first, second };
    },
    { timeoutMs: TAKEOVER_TIMEOUT_MS, everyMs: 100 },
  );
}

/** Its connections are open already: a stopped process first reads the requests that were sent to it. */
async function connectedClient({ kvUrl: url }: MillraceProcess): Promise<KvClient> {
  const connections = QUEUED_READS + QUEUED_WRITES;
  const client = new KvClient({ url, token: TOKEN, connections, timeoutMs: 60_000 });
  await Promise.all(Array.from({ length: connections }, () => client.ask('GET', 'value')));
  return client;
}

function sendWhileFrozen(client: KvClient): { reads: Promise<Outcome>[]; writes: Promise<Outcome>[] } {
  const reads = Array.from({ length: QUEUED_READS }, () => client.command('GET', 'value'));
  const writes = Array.from({ length: QUEUED_WRITES }, () => client.command('INCR', 'counter'));
  void Promise.all([...reads, ...writes]).then(() => client.close());
  return { reads, writes };
}

function expectNotStale(answer: Outcome): void {
  if (answer.kind !== 'done') return;
  expect(answer.result, 'a read through the one that was stopped').to.equal('after');
}

/** Reads until the first process has noticed the takeover: it then answers correctly through the new owner, or has ended. */
async function readThrough(first: MillraceProcess, second: MillraceProcess): Promise<void> {
  const until = performance.now() + TAKEOVER_MS;
  let written = 0;
  while (performance.now() < until) {
    written += 1;
    await second.kv.ask('SET', 'moving', written);
    const answer = await first.kv.command('GET', 'moving');
    if (answer.kind === 'done') expect(answer.result, 'a read after an acknowledged write').to.equal(`${written}`);
    else expect(describeOutcome(answer)).not.to.contain('status 500');
  }
}

async function expectCounted(second: MillraceProcess, writes: readonly Outcome[]): Promise<void> {
  const acked = writes.filter(({ kind }) => kind === 'done').length;
  const unknown = writes.filter(({ kind }) => kind === 'unknown').length;
  const counter = Number(await second.kv.ask('GET', 'counter'));
  expect(counter).to.be.within(acked, acked + unknown);
}

async function startThree(): Promise<NatsFacts> {
  const { urls, user, password, sysUser, sysPassword, stop } = await startNatsCluster(findNatsServer());
  return { url: urls.join(','), user, password, sysUser, sysPassword, stop };
}
