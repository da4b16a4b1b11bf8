/** Proves PC1–PC4. */
import { expect } from 'chai';
import fc from 'fast-check';
import { offBy, PeerClocks, type PeerView } from '../../../../src/actors/runtime/peer-clocks.js';
import type { SessionId } from '../../../../src/kernel/index.js';

const HERE = 'node-here' as SessionId;
const THERE = 'node-there' as SessionId;
const MAX_SKEW_MS = 2000;

/** Two processes that send each other heartbeats; only the test lets time pass. */
class Pair {
  readonly here = new PeerClocks(() => HERE);
  readonly there = new PeerClocks(() => THERE);

  constructor(readonly aheadMs: number) {}

  beat(atMs: number, thereMs: number, backMs: number): void {
    const said = { isSure: true, isBehindJournal: false };
    const { here, there } = this;
    const fromHere = { ...said, nowMs: atMs + this.aheadMs, generation: here.generation, heard: here.heard() };
    there.hear(HERE, fromHere, atMs + thereMs, atMs + thereMs);
    const fromThere = { ...said, nowMs: atMs, generation: there.generation, heard: there.heard() };
    here.hear(THERE, fromThere, atMs + backMs + this.aheadMs, atMs + backMs);
  }
}

describe('the difference of two clocks', () => {
  it('is not known before heartbeats have gone both ways', () => {
    const { here } = new Pair(0);
    here.hear(THERE, { nowMs: 0, generation: 0, isSure: true, isBehindJournal: false, heard: [] }, 5, 5);
    expect(here.viewOf(THERE)).to.equal(undefined);
  });

  it('lies between its bounds, for any delay of the heartbeats', () => {
    const waits = fc.array(fc.tuple(fc.nat(20_000), fc.nat(20_000)), { minLength: 2, maxLength: 40 });
    const aheads = fc.integer({ min: -4_000_000, max: 4_000_000 });
    fc.assert(
      fc.property(waits, aheads, (beats, aheadMs) => {
        const pair = new Pair(aheadMs);
        for (const [at, [thereMs, backMs]] of beats.entries()) pair.beat(at * 500, thereMs, backMs);
        const { lowMs, highMs } = pair.here.viewOf(THERE) as PeerView;
        expect(aheadMs).to.be.within(lowMs, highMs);
        const own = { isSure: false, isBehindJournal: false };
        if (Math.abs(aheadMs) <= MAX_SKEW_MS) {
          expect(offBy(own, [pair.here.viewOf(THERE) as PeerView], MAX_SKEW_MS)).to.equal(0);
        }
      }),
    );
  });

  it('is known to a few milliseconds once one heartbeat each way was quick', () => {
    const pair = new Pair(3_600_000);
    pair.beat(0, 4000, 4000);
    pair.beat(500, 2, 3);
    pair.beat(1000, 4000, 4000);
    expect(pair.here.viewOf(THERE)).to.include({ lowMs: 3_599_998, highMs: 3_600_003 });
  });

  it('is discarded once one of the clocks was set', () => {
    const pair = new Pair(0);
    pair.beat(0, 1, 1);
    pair.beat(500, 1, 1);
    expect(pair.here.viewOf(THERE)).to.not.equal(undefined);
    pair.here.beginAnew();
    expect(pair.here.viewOf(THERE)).to.equal(undefined);
    // A measurement of the clock before the restart is not used for the new one.
    const late = { isSure: true, isBehindJournal: false, heard: [[HERE, 0, 1]] as const };
    pair.here.hear(THERE, { ...late, nowMs: 1000, generation: 0 }, 1001, 1001);
    expect(pair.here.viewOf(THERE)).to.equal(undefined);
  });

  it('is sent to the other processes in turn where they are many', () => {
    const clocks = new PeerClocks(() => HERE);
    const reading = { nowMs: 0, generation: 0, isSure: true, isBehindJournal: false, heard: [] };
    for (let i = 0; i < 100; i += 1) clocks.hear(`node-${i}` as SessionId, reading, 1, 1);
    const told = new Set<SessionId>();
    for (let i = 0; i < 2; i += 1) {
      const heard = clocks.heard();
      expect(heard).to.have.length(64);
      for (const [process] of heard) told.add(process);
    }
    expect(told.size).to.equal(100);
  });
});

describe('the process with a wrong clock', () => {
  const sure = { isSure: true, isBehindJournal: false };
  const unsure = { isSure: false, isBehindJournal: false };
  const behind = { isSure: false, isBehindJournal: true };
  const peer = (said: typeof sure, skewMs: number): PeerView => ({ ...said, lowMs: skewMs - 1, highMs: skewMs + 1 });
  const off = (own: typeof sure, ...peers: PeerView[]) => offBy(own, peers, MAX_SKEW_MS);

  it('is none when a process is alone, or within the bound', () => {
    expect(off(unsure)).to.equal(0);
    expect(off(sure, peer(sure, 1990))).to.equal(0);
    expect(off(sure, peer(sure, 2002))).to.equal(2002);
  });

  it('is the newcomer, rather than the earlier processes', () => {
    expect(off(unsure, peer(sure, 60_000))).to.equal(60_000);
    expect(off(unsure, peer(sure, -60_000))).to.equal(-60_000);
    expect(off(sure, peer(unsure, 60_000), peer(unsure, 60_000))).to.equal(0);
  });

  it('is the minority of the processes that are sure', () => {
    expect(off(sure, peer(sure, -60_000), peer(sure, -60_000))).to.equal(-60_000);
    expect(off(sure, peer(sure, 0), peer(sure, 60_000))).to.equal(0);
  });

  it('is the one ahead when two processes contradict each other', () => {
    expect(off(sure, peer(sure, 60_000))).to.equal(60_000);
    expect(off(sure, peer(sure, -60_000))).to.equal(0);
    expect(off(unsure, peer(unsure, 60_000))).to.equal(60_000);
    expect(off(unsure, peer(unsure, -60_000))).to.equal(0);
  });

  it('is the one that is behind the journal, when no process is sure', () => {
    expect(off(behind, peer(unsure, -60_000))).to.equal(-60_000);
    expect(off(unsure, peer(behind, 60_000))).to.equal(0);
  });
});
