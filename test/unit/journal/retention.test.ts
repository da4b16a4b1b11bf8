/** Proves RET1–RET6. */
import { expect } from 'chai';
import { type AuditRetention, levelOf, planRetention, type StoredManifest } from '../../../src/journal/index.js';
import type { ShardName } from '../../../src/kernel/index.js';

const DAY_MS = 86_400_000;
const WEEK: AuditRetention = { maxAgeMs: 7 * DAY_MS, maxBytes: 1e12 };

/** A manifest of entry `number`, ending at ten times that position. */
function manifest(number: number, storedAtMs: number, journalBytes = number): StoredManifest {
  const hash = new Uint8Array(32);
  return {
    name: `KV_0/manifest/${number}`,
    digest: hash,
    manifest: {
      shard: 'KV_0' as ShardName,
      clusterId: 'c',
      head: { number, hash, epoch: 1, clockMs: storedAtMs, position: number * 10 },
      partitions: [],
      recentCommandIds: [],
      createdAtMs: storedAtMs,
      headStoredAtMs: storedAtMs,
      journalBytes,
    },
  };
}

const numbers = (kept: readonly StoredManifest[]) => kept.map((stored) => stored.manifest.head.number);

describe('journal: retention', () => {
  it('removes no history with a single manifest', () => {
    expect(planRetention([], { maxAgeMs: 0, maxBytes: 0 }, 0)).to.deep.equal({
      keep: [],
      purgeBelow: undefined,
      isOver: false,
    });
    const plan = planRetention([manifest(1, 0)], { maxAgeMs: 0, maxBytes: 0 }, 100);
    expect([numbers(plan.keep), plan.purgeBelow]).to.deep.equal([[1], undefined]);
  });

  it('keeps the history that the older of the two newest manifests needs, even without retention for audits', () => {
    const plan = planRetention([manifest(3, 30), manifest(2, 20), manifest(1, 10)], { maxAgeMs: 0, maxBytes: 0 }, 100);
    expect([numbers(plan.keep), plan.purgeBelow]).to.deep.equal([[3, 2], 21]);
  });

  it('keeps history younger than its age, and the manifest where it starts', () => {
    const manifests = [9, 8, 7, 6, 5, 4, 3, 2, 1].map((day) => manifest(day, day * DAY_MS));
    const plan = planRetention(manifests, WEEK, 9.5 * DAY_MS);
    expect(plan.purgeBelow).to.equal(21);
    expect(numbers(plan.keep)).to.include.members([9, 8, 2]);
    expect(numbers(plan.keep)).not.to.include(1);
  });

  it('removes more where the bytes are reached first', () => {
    const manifests = [9, 8, 7, 6, 5].map((day) => manifest(day, day * DAY_MS, day * 1000));
    const plan = planRetention(manifests, { maxAgeMs: 7 * DAY_MS, maxBytes: 2000 }, 9.5 * DAY_MS);
    expect(plan.purgeBelow).to.equal(71);
  });

  it('removes no history while all of it is young', () => {
    const plan = planRetention([manifest(3, 3), manifest(2, 2), manifest(1, 1)], WEEK, 10);
    expect(plan.purgeBelow).to.equal(undefined);
    expect(numbers(plan.keep)).to.deep.equal([3, 2, 1]);
  });

  it('moves on with time at one snapshot an hour, and keeps few manifests', () => {
    const hourMs = DAY_MS / 24;
    let kept: readonly StoredManifest[] = [];
    let purgedBelow = 1;
    let largest = 0;
    for (let hour = 1; hour <= 24 * 40; hour += 1) {
      const plan = planRetention([manifest(hour, hour * hourMs), ...kept], WEEK, hour * hourMs);
      kept = plan.keep;
      largest = Math.max(largest, kept.length);
      expect(plan.purgeBelow ?? 1).to.be.at.least(purgedBelow);
      purgedBelow = plan.purgeBelow ?? purgedBelow;
      // Never less than the promised week, never more than a quarter of it and an hour on top.
      const retainedMs = hour * hourMs - ((purgedBelow - 1) / 10) * hourMs;
      if (hour > 24 * 10) expect(retainedMs / DAY_MS).to.be.within(7, 7 * 1.25 + 0.1);
      // The snapshot before the first kept entry is kept.
      if (purgedBelow > 1) expect(numbers(kept)).to.include((purgedBelow - 1) / 10);
    }
    expect(largest).to.be.at.most(9);
  });

  describe('journal: retention within a total', () => {
    const FOR_EVER: AuditRetention = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
    const manifests = [9, 8, 7, 6, 5].map((number) => manifest(number, number, number * 1000));

    it('removes no history while all journals fit', () => {
      expect(levelOf([10, 20, 30], 60)).to.equal(Number.POSITIVE_INFINITY);
      const plan = planRetention(manifests, FOR_EVER, 10, { heldBytes: 9000, maxBytes: levelOf([9000], 9000) });
      expect([plan.purgeBelow, plan.isOver]).to.deep.equal([undefined, false]);
    });

    it('gives each too large journal the same share, and small ones all they need', () => {
      expect(levelOf([10, 20, 30], 59)).to.equal(29);
      expect(levelOf([1, 50, 90], 41)).to.equal(20);
      expect(levelOf([0, 0, 100], 41)).to.equal(41);
      expect(levelOf([], 0)).to.equal(Number.POSITIVE_INFINITY);
    });

    it('removes young history one byte above the total, so that the rest fits', () => {
      const plan = planRetention(manifests, FOR_EVER, 10, { heldBytes: 9000, maxBytes: levelOf([9000], 8999) });
      expect([plan.purgeBelow, plan.isOver]).to.deep.equal([51, false]);
      expect(planRetention(manifests, FOR_EVER, 10, { heldBytes: 4001, maxBytes: 2999 }).purgeBelow).to.equal(71);
      expect(planRetention(manifests, FOR_EVER, 10, { heldBytes: 4001, maxBytes: 2000 }).purgeBelow).to.equal(71);
    });

    it('never removes the history that the two newest manifests need, and reports that the total is exceeded', () => {
      const plan = planRetention(manifests, FOR_EVER, 10, { heldBytes: 9000, maxBytes: 0 });
      expect([plan.purgeBelow, plan.isOver, numbers(plan.keep)]).to.deep.equal([81, true, [9, 8]]);
      const alone = planRetention([manifest(9, 9)], FOR_EVER, 10, { heldBytes: 9000, maxBytes: 8999 });
      expect([alone.purgeBelow, alone.isOver]).to.deep.equal([undefined, true]);
    });

    it('removes no more where the age has already removed enough', () => {
      const plan = planRetention(manifests, { maxAgeMs: 0, maxBytes: 0 }, 10, { heldBytes: 9000, maxBytes: 3000 });
      expect([plan.purgeBelow, plan.isOver]).to.deep.equal([81, false]);
    });
  });
});
