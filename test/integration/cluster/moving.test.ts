/** Shards that move between processes under load: processes join, leave and are killed, and no request fails. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { describeOutcome, KvClient } from '../../support/kv-client.js';
import { MillraceCluster, type NatsFacts, ownerOf, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../../support/millrace-process.js';

const DATABASES = 4;
const PROBE_EVERY_MS = 50;
/** Much longer than the balancer of this test needs. */
const NOTICE_MS = '1000';

/** A client of one database that sends its next request after each answer, to any ready process. */
class Visitor {
  /** Answers other than the expected ones. */
  readonly failures: string[] = [];
  answered = 0;
  readonly #clients = new Map<MillraceProcess, KvClient>();
  #isLeaving = false;
  #ended: Promise<void> | undefined;

  constructor(
    private readonly token: string,
    private readonly readyProcesses: () => readonly MillraceProcess[],
  ) {}

  start(): void {
    this.#ended = this.#visit();
  }

  async stop(): Promise<void> {
    this.#isLeaving = true;
    await this.#ended;
    for (const client of this.#clients.values()) client.close();
  }

  async count(): Promise<number> {
    return Number(await this.#clientOf(this.readyProcesses()[0] as MillraceProcess).ask('GET', 'n'));
  }

  async #visit(): Promise<void> {
    for (let turn = 0; !this.#isLeaving; turn += 1) {
      const ready = this.readyProcesses();
      if (ready.length === 0) {
        await pause(PROBE_EVERY_MS);
        continue;
      }
      const outcome = await this.#clientOf(ready[turn % ready.length] as MillraceProcess).command('INCR', 'n');
      if (outcome.kind === 'done') this.answered += 1;
      else this.failures.push(describeOutcome(outcome));
    }
  }

  #clientOf(process: MillraceProcess): KvClient {
    const known = this.#clients.get(process);
    if (known !== undefined) return known;
    const client = new KvClient({ url: process.kvUrl, token: this.token });
    this.#clients.set(process, client);
    return client;
  }
}

describe('shards that move under load', function () {
  this.timeout(120_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let visitors: Visitor[];
  let tokens: string[];
  /** The processes that are ready according to the balancer. */
  const ready = new Set<MillraceProcess>();
  let wasNobodyReady = false;
  let probing: NodeJS.Timeout;

  before(async () => {
    nats = await startPlainNats();
    const settings = { MILLRACE_KV_SHARDS: '8', MILLRACE_DRAIN_NOTICE_MS: NOTICE_MS };
    cluster = await MillraceCluster.prepare(nats, settings);
    await Promise.all([cluster.start(), cluster.start()]);
    tokens = [];
    for (let at = 0; at < DATABASES; at += 1) {
      const { stdout, stderr } = await cluster.run(['db', 'create', '--name', `visited-${at}`]);
      expect(stderr.toString()).to.equal('');
      tokens.push(credentialsIn(stdout.toString()).token);
    }
    probing = setInterval(() => {
      for (const process of cluster.processes) void probe(process);
    }, PROBE_EVERY_MS);
    await everybodyReady();
  });
  beforeEach(() => {
    wasNobodyReady = false;
    visitors = tokens.map((token) => new Visitor(token, () => [...ready]));
  });
  afterEach(() => Promise.all(visitors.map((visitor) => visitor.stop())));
  after(async () => {
    clearInterval(probing);
    await endEverything();
    await nats?.stop();
  });

  async function probe(process: MillraceProcess): Promise<void> {
    const isReady = await fetch(`${process.metricsUrl}/readyz/edge`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady && cluster.processes.includes(process)) ready.add(process);
    else ready.delete(process);
    if (ready.size === 0) wasNobodyReady = true;
  }

  async function everybodyReady(): Promise<void> {
    await eventually(() => expect(ready.size).to.equal(cluster.processes.length), { timeoutMs: 30_000 });
  }

  /** Waits until each visitor has got some more answers. */
  async function aWhile(): Promise<void> {
    const from = visitors.map(({ answered, failures }) => answered + failures.length);
    await eventually(
      () => {
        for (const [at, { answered, failures }] of visitors.entries()) {
          expect(answered + failures.length).to.be.above((from[at] as number) + 20);
        }
      },
      { timeoutMs: 30_000 },
    );
  }

  async function leave(process: MillraceProcess): Promise<void> {
    const { code } = await process.kill('SIGTERM');
    cluster.processes.splice(cluster.processes.indexOf(process), 1);
    expect(code, process.stderr()).to.equal(0);
  }

  async function expectNothingNoticed(isWellKnown = (_failure: string) => false): Promise<void> {
    const before = await Promise.all(visitors.map((visitor) => visitor.count()));
    await Promise.all(visitors.map((visitor) => visitor.stop()));
    expect(before.every(Number.isInteger)).to.equal(true);
    const failures = visitors.flatMap((visitor) => visitor.failures);
    expect(failures.filter((failure) => !isWellKnown(failure))).to.deep.equal([]);
    expect(wasNobodyReady).to.equal(false);
  }

  it('move when a process joins, leaves or restarts, and no request fails', async () => {
    for (const visitor of visitors) visitor.start();
    await aWhile();
    const restarted = [...cluster.processes];
    for (const process of restarted) {
      await cluster.start();
      await everybodyReady();
      await aWhile();
      await leave(process);
      await aWhile();
    }
    await expectNothingNoticed();
    const counts = await Promise.all(visitors.map((visitor) => visitor.count()));
    expect(counts).to.deep.equal(visitors.map(({ answered }) => answered));
  });

  it('are served again after their owner was killed, and only requests in flight there have an unknown outcome', async () => {
    while (cluster.processes.length < 3) await cluster.start();
    await everybodyReady();
    const killed = ownerOf('KV_0', cluster.processes);
    // The process leaves the list first, so that no visitor is connected to it: a cut connection would be noticed.
    cluster.processes.splice(cluster.processes.indexOf(killed), 1);
    ready.delete(killed);
    const from = await Promise.all(visitors.map((visitor) => visitor.count()));
    for (const visitor of visitors) visitor.start();
    await aWhile();
    await killed.kill('SIGKILL');
    await eventually(() => expect(cluster.processes).to.include(ownerOf('KV_0', cluster.processes)), {
      timeoutMs: 20_000,
    });
    await aWhile();
    // A command that was stored and not answered yet took effect, but its result is unknown.
    await expectNothingNoticed((failure) => failure.includes('outcome=unknown'));
    for (const [at, visitor] of visitors.entries()) {
      const { answered, failures } = visitor;
      expect(failures).to.have.length.at.most(1);
      const counted = (await visitor.count()) - (from[at] as number);
      expect(counted).to.be.within(answered, answered + failures.length);
    }
  });
});
