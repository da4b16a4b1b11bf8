/**
 * A bad network between the process and its NATS: lost or late acknowledgements, a stalled direction, cut connections.
 * Clients receive a true answer or "unknown". Proves SE1.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { HistoryRecorder } from '../support/history-recorder.js';
import type { JournalReader } from '../support/journal-reader.js';
import { ownershipViolations } from '../support/journal-reader.js';
import { describeOutcome, KvClient } from '../support/kv-client.js';
import { endLedgers, Ledger } from '../support/ledger.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, TOKEN, temporaryDirectory } from '../support/millrace-process.js';
import { NatsProxy } from '../support/nats-proxy.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

/** Longer than most synced writes to a busy disk: a slower one is sent again, and is answered later. */
const APPEND_TIMEOUT_MS = 600;
const BACK_TIMEOUT_MS = 60_000;
/** How often the storm breaks something; more with CHAOS_FAULTS. */
const FAULTS = Number(process.env.CHAOS_FAULTS ?? '24');
const SHARD = 'KV_0';
/** Some clients leave while their command may still be done; the ledger waits, because its progress is awaited. */
const IMPATIENT_MS = 700;
const PATIENT_MS = 10_000;
/** The time of a fault: shorter and longer than that of an append. */
const FAULT_MS = { least: 150, more: 1_500 } as const;
const KILL_EVERY = 8;

describe('a process with a bad network to its NATS', function () {
  this.timeout(BACK_TIMEOUT_MS + FAULTS * 10_000);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let nats: NatsFacts & { readonly port: number };
  let proxy: NatsProxy;
  let cluster: MillraceCluster;
  let millrace: MillraceProcess;
  let journal: JournalReader;
  const clients: KvClient[] = [];

  before(async () => {
    console.log(replayLine(seed, 'unknown-outcome'));
    nats = await startPlainNats();
    proxy = await NatsProxy.start(nats.port);
    cluster = await MillraceCluster.prepare(nats, {
      MILLRACE_NATS_APPEND_TIMEOUT_MS: String(APPEND_TIMEOUT_MS),
      // Refusing requests because permissions may be old would hide the behaviour of the journal's owner.
      MILLRACE_CONTROL_STALE_MS: '60000',
    });
    millrace = await cluster.start(throughProxy('0'));
    journal = await cluster.reader();
    await eventually(() => millrace.kv.ask('SET', 'is', 'served'), { timeoutMs: BACK_TIMEOUT_MS });
  });
  afterEach(() => proxy?.heal());
  after(async () => {
    endLedgers();
    for (const client of clients) client.close();
    await journal?.close();
    await endEverything();
    await proxy?.close();
    await nats?.stop();
  });

  it('answers a write after a lost acknowledgement, and executes it once', async () => {
    await millrace.kv.ask('SET', 'lost', '0');
    const touched = proxy.acksTouched;
    proxy.loseAcks();
    // The process sends the same bytes again; the refusal as a duplicate shows that the first try was stored.
    expect(await millrace.kv.ask('INCR', 'lost')).to.equal(1);
    expect(proxy.acksTouched).to.be.greaterThan(touched);
    proxy.heal();
    expect(await millrace.kv.ask('GET', 'lost')).to.equal('1');
    expect(await unknownAppends()).to.be.greaterThan(0);
  });

  it('accepts an acknowledgement that arrives after the retry', async () => {
    await millrace.kv.ask('SET', 'late', '0');
    proxy.delayAcks(APPEND_TIMEOUT_MS + 100);
    for (let count = 1; count <= 3; count += 1) expect(await millrace.kv.ask('INCR', 'late')).to.equal(count);
    proxy.heal();
    expect(await millrace.kv.ask('INCR', 'late')).to.equal(4);
  });

  for (const direction of ['to-server', 'to-client'] as const) {
    it(`holds a write and the reads of its key while no data passes ${direction}`, async () => {
      await millrace.kv.ask('SET', 'held', 'before');
      proxy.stall(direction);
      const before = await unknownAppends();
      let answered = 0;
      const write = millrace.kv.command('SET', 'held', 'after');
      const read = millrace.kv.command('GET', 'held');
      for (const answer of [write, read]) void answer.then(() => (answered += 1));
      await eventually(async () => expect(await unknownAppends()).to.be.greaterThan(before), {
        timeoutMs: BACK_TIMEOUT_MS,
      });
      expect(answered, 'answered before the append was').to.equal(0);
      proxy.heal();
      expect(describeOutcome(await write)).to.equal('done: "OK"');
      const seen = await read;
      if (seen.kind === 'done') expect(seen.result).to.equal('after');
      expect(await eventually(() => millrace.kv.ask('GET', 'held'))).to.equal('after');
    });
  }

  it('refuses reads when NATS has been unreachable for the read lease', async () => {
    await millrace.kv.ask('SET', 'leased', 'yes');
    proxy.isolate();
    await eventually(async () => expect((await millrace.kv.command('GET', 'leased')).kind).to.equal('refused'), {
      timeoutMs: BACK_TIMEOUT_MS,
    });
    proxy.heal();
    const value = await eventually(() => millrace.kv.ask('GET', 'leased'), { timeoutMs: BACK_TIMEOUT_MS });
    expect(value).to.equal('yes');
  });

  it(`keeps every promise through ${FAULTS} faults`, async () => {
    const url = millrace.kvUrl;
    const dir = await temporaryDirectory();
    const ledger = await Ledger.start({ dir, urls: [url], token: TOKEN, seed, timeoutMs: PATIENT_MS });
    const recorder = new HistoryRecorder('storm:', random, 3);
    for (let count = 0; count < 5; count += 1) {
      clients.push(new KvClient({ url, token: TOKEN, connections: 1, timeoutMs: IMPATIENT_MS }));
    }
    recorder.start(clients, 20);
    for (let fault = 0; fault < FAULTS; fault += 1) {
      strike(fault);
      await new Promise((done) => setTimeout(done, FAULT_MS.least + random.below(FAULT_MS.more)));
      if ((fault + 1) % KILL_EVERY === 0) await millrace.kill();
      proxy.heal();
      if ((fault + 1) % KILL_EVERY === 0) millrace = await cluster.start(throughProxy(new URL(url).port));
      await ledger.progress(10, BACK_TIMEOUT_MS);
    }
    await recorder.stop();
    await ledger.stop();
    await millrace.kill();
    await ledger.settleUnknown();
    millrace = await cluster.start();
    await eventually(() => millrace.kv.ask('GET', 'is'), { timeoutMs: BACK_TIMEOUT_MS });

    const counts = await ledger.check([millrace.kv]);
    const { open, recorded } = recorder;
    console.log(`      ${JSON.stringify({ ...counts, recorded, open, acksTouched: proxy.acksTouched })}`);
    for (const verdict of recorder.verdicts()) expect(verdict).to.deep.equal({ kind: 'linearizable' });
    expect(ownershipViolations(await journal.entries(SHARD))).to.deep.equal([]);
    expect(await journal.findings(SHARD)).to.deep.equal([]);
    expect(recorded).to.be.greaterThan(FAULTS * 5);
    expect(counts.unknown + open, 'operations with an unknown outcome').to.be.greaterThan(0);
  });

  function throughProxy(kvPort: string): Record<string, string> {
    return { MILLRACE_NATS_URL: proxy.url, MILLRACE_KV_PORT: kvPort };
  }

  function strike(fault: number): void {
    const faults = [
      () => proxy.loseAcks(),
      () => proxy.delayAcks(random.below(2 * APPEND_TIMEOUT_MS)),
      () => proxy.stall('to-server'),
      () => proxy.stall('to-client'),
      () => proxy.cut(),
      () => proxy.isolate(),
      () => {
        proxy.loseAcks();
        setTimeout(() => proxy.cut(), random.below(300));
      },
    ];
    (faults[fault] ?? random.pick(faults))();
  }

  async function unknownAppends(): Promise<number> {
    const page = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
    return Number(/^millrace_append_unknown_total (\d+)$/m.exec(page)?.[1]);
  }
});
