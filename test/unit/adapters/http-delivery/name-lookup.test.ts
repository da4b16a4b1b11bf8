/** Name lookups, which do not wait for each other. Proves NL1–NL4. */
import type { LookupAddress } from 'node:dns';
import { expect } from 'chai';
import { NameLookup } from '../../../../src/adapters/http-delivery/name-lookup.js';
import type { ResolvedName } from '../../../../src/adapters/http-delivery/resolve-name.js';
import { PromMetrics } from '../../../../src/adapters/node/index.js';
import { eventually } from '../../../support/eventually.js';

const ADDRESS: LookupAddress = { address: '93.184.215.14', family: 4 };

/** A lookup with answers and a clock that the test controls. */
class Stand {
  nowMs = 0;
  readonly running = new Map<
    string,
    { finish: (resolved: ResolvedName) => void; fail: (error: Error) => void; signal: AbortSignal }
  >();
  started = 0;
  readonly metrics = new PromMetrics({ withProcess: false });
  readonly lookup: NameLookup;

  constructor(limits: { timeoutMs?: number; maxLookups?: number } = {}) {
    this.lookup = new NameLookup({
      timeoutMs: 10_000,
      maxLookups: 3,
      ...limits,
      metrics: this.metrics,
      nowMs: () => this.nowMs,
      resolve: (name, signal) => {
        this.started += 1;
        return new Promise((finish, fail) => this.running.set(name, { finish, fail, signal }));
      },
    });
  }

  /** The result: addresses, or the text of the failure. */
  ask(name: string): Promise<string> {
    return new Promise((resolve) => {
      this.lookup.ask(name, (error, addresses) => resolve(error?.message ?? addresses.map((a) => a.address).join()));
    });
  }

  /** Resolves the name with that answer. */
  async resolved(name: string, addresses: LookupAddress[], ttlMs: number): Promise<string> {
    const answer = this.ask(name);
    this.running.get(name)?.finish({ addresses, ttlMs });
    return answer;
  }
}

describe('name lookup', () => {
  it('runs once for several callers with the same name', async () => {
    const stand = new Stand();
    const answers = [stand.ask('a'), stand.ask('a')];
    stand.running.get('a')?.finish({ addresses: [ADDRESS], ttlMs: 1000 });
    expect(await Promise.all(answers)).to.deep.equal([ADDRESS.address, ADDRESS.address]);
    expect(stand.started).to.equal(1);
    expect(stand.lookup.inFlight).to.equal(0);
  });

  it('caches an answer, or a denial, for its time to live', async () => {
    const stand = new Stand();
    for (const [name, addresses, words] of [
      ['a', [ADDRESS], ADDRESS.address],
      ['none', [], 'no such host'],
    ] as const) {
      stand.nowMs = 0;
      stand.started = 0;
      expect(await stand.resolved(name, [...addresses], 7000)).to.equal(words);
      stand.nowMs = 6999;
      expect(await stand.ask(name)).to.equal(words);
      expect(stand.started).to.equal(1);
      stand.nowMs = 7000;
      void stand.ask(name);
      expect(stand.started, name).to.equal(2);
    }
    const { text: page } = await stand.metrics.page();
    expect(page).to.include('millrace_name_cache_hits_total 2');
    expect(page).to.include('millrace_name_lookups_total{outcome="found"} 1');
    expect(page).to.include('millrace_name_lookups_total{outcome="none"} 1');
    expect(page).to.include('millrace_name_lookups_in_flight 2');
  });

  it('does not cache an answer with a time to live of 0', async () => {
    const stand = new Stand();
    await stand.resolved('a', [ADDRESS], 0);
    void stand.ask('a');
    expect(stand.started).to.equal(2);
  });

  it('caches an answer for a day at most', async () => {
    const stand = new Stand();
    await stand.resolved('a', [ADDRESS], Number.MAX_SAFE_INTEGER);
    stand.nowMs = 24 * 3600_000 - 1;
    await stand.ask('a');
    expect(stand.started).to.equal(1);
    stand.nowMs += 1;
    void stand.ask('a');
    expect(stand.started).to.equal(2);
  });

  it('caches a failure for a second', async () => {
    const stand = new Stand();
    const first = stand.ask('a');
    stand.running.get('a')?.fail(new Error('broken'));
    expect(await first).to.equal('broken');
    stand.nowMs = 999;
    expect(await stand.ask('a')).to.equal('broken');
    expect(stand.started).to.equal(1);
    stand.nowMs = 1000;
    void stand.ask('a');
    expect(stand.started).to.equal(2);
  });

  it('caches ten thousand names', async () => {
    const stand = new Stand();
    for (let n = 0; n <= 10_000; n += 1) await stand.resolved(`n${n}`, [ADDRESS], 1000);
    await stand.ask('n1');
    expect(stand.started).to.equal(10_001);
    void stand.ask('n0');
    expect(stand.started).to.equal(10_002);
  });

  it('starts without waiting: above the bound it ends the lookup that is unanswered longest', async () => {
    const stand = new Stand({ maxLookups: 3 });
    const answers = ['dead 1', 'dead 2', 'dead 3', 'well'].map((name) => stand.ask(name));
    expect(stand.started).to.equal(4);
    expect(stand.lookup.inFlight).to.equal(3);
    expect(stand.running.get('dead 1')?.signal.aborted).to.equal(true);
    expect(await answers[0]).to.equal('too many name lookups');
    stand.running.get('well')?.finish({ addresses: [ADDRESS], ttlMs: 1000 });
    expect(await answers[3]).to.equal(ADDRESS.address);
    // The lookup that was aborted to make room has no cached result, so another one starts.
    void stand.ask('dead 1');
    expect(stand.started).to.equal(5);
  });

  it('is aborted when no caller waits for it any more', async () => {
    const stand = new Stand();
    const heard: string[] = [];
    const leave = [0, 1].map((n) => stand.lookup.ask('a', () => heard.push(`${n}`)));
    leave[0]?.();
    expect(stand.running.get('a')?.signal.aborted).to.equal(false);
    leave[1]?.();
    expect(stand.running.get('a')?.signal.aborted).to.equal(true);
    expect(stand.lookup.inFlight).to.equal(0);
    const again = stand.ask('a');
    expect(stand.started).to.equal(2);
    stand.running.get('a')?.finish({ addresses: [ADDRESS], ttlMs: 1000 });
    await again;
    expect(heard).to.deep.equal([]);
  });

  it('does not call back a caller that has left, not even with a cached answer', async () => {
    const stand = new Stand();
    await stand.resolved('a', [ADDRESS], 1000);
    const heard: string[] = [];
    stand.lookup.ask('a', () => heard.push('left'))();
    await stand.ask('a');
    expect(heard).to.deep.equal([]);
  });

  it('ends after its time limit', async () => {
    const stand = new Stand({ timeoutMs: 20 });
    expect(await stand.ask('a')).to.equal('name lookup timed out');
    await eventually(() => expect(stand.running.get('a')?.signal.aborted).to.equal(true));
    expect((await stand.metrics.page()).text).to.include('millrace_name_lookups_total{outcome="timed-out"} 1');
  });
});
