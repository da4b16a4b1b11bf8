/** Promises of every lease store (src/ports/lease-store.ts): compare-and-set for each key, and growing revisions. */
import { expect } from 'chai';
import type { LeaseOutcome, LeaseStore } from '../../src/ports/index.js';
import { eventually } from '../support/eventually.js';
import { standOfAllTests } from '../support/stand-hooks.js';

export interface LeaseStoreHarness {
  readonly store: LeaseStore;
  /** A second client of the same server. */
  readonly other: LeaseStore;
  close(): Promise<void>;
}

export function leaseStoreContract(name: string, makeHarness: () => Promise<LeaseStoreHarness>): void {
  describe(`lease store contract: ${name}`, () => {
    const harness = standOfAllTests(() => makeHarness());
    let store: LeaseStore;
    let key: string;
    let made = 0;

    before(async () => {
      store = harness.store;
    });

    beforeEach(() => {
      made += 1;
      key = `shard.KV_${made}`;
    });

    it('has no record for a key that was never created', async () => {
      expect(await store.get(key)).to.equal(undefined);
    });

    it('returns a created record with its revision, also to another client', async () => {
      const revision = await storedRevision(store.create(key, text('owner a')));
      await eventually(async () => {
        const record = await harness.other.get(key);
        expect(record?.revision).to.equal(revision);
        expect(textOf(record?.value)).to.equal('owner a');
      });
    });

    it('shows when a record was stored, by one clock for all keys', async () => {
      const second = `${key}.later`;
      await storedRevision(store.create(key, text('owner a')));
      await storedRevision(store.create(second, text('owner b')));
      await eventually(async () => {
        const [first, later] = await Promise.all([store.get(key), store.get(second)]);
        expect(first?.storedAtMs).to.satisfy(Number.isSafeInteger);
        expect(later?.storedAtMs).to.be.at.least(first?.storedAtMs as number);
      });
    });

    it('keeps every byte value, and an empty record', async () => {
      const everyByte = Uint8Array.from({ length: 256 }, (_, value) => value);
      const revision = await storedRevision(store.create(key, everyByte));
      await eventually(async () => expect([...((await store.get(key))?.value ?? [])]).to.deep.equal([...everyByte]));
      await storedRevision(store.update(key, new Uint8Array(0), revision));
      await eventually(async () => expect((await store.get(key))?.value.length).to.equal(0));
    });

    it('refuses to create an existing key', async () => {
      await storedRevision(store.create(key, text('first')));
      expect(await harness.other.create(key, text('second'))).to.deep.equal({ kind: 'conflict' });
      expect(textOf((await store.get(key))?.value)).to.equal('first');
    });

    it('updates at the expected revision only, and each change has a greater one', async () => {
      const first = await storedRevision(store.create(key, text('1')));
      const second = await storedRevision(store.update(key, text('2'), first));
      expect(second).to.be.greaterThan(first);
      expect(await harness.other.update(key, text('3'), first)).to.deep.equal({ kind: 'conflict' });
      const third = await storedRevision(harness.other.update(key, text('3'), second));
      expect(third).to.be.greaterThan(second);
      await eventually(async () => expect(textOf((await store.get(key))?.value)).to.equal('3'));
    });

    it('refuses to update a key that does not exist', async () => {
      expect(await store.update(key, text('x'), 1_000_000)).to.deep.equal({ kind: 'conflict' });
      expect(await store.get(key)).to.equal(undefined);
    });

    it('lets exactly one of many racing creators win', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => (n % 2 ? store : harness.other).create(key, text(`${n}`))),
      );
      expect(outcomes.filter((outcome) => outcome.kind === 'stored')).to.have.lengthOf(1);
      expect(outcomes.filter((outcome) => outcome.kind === 'conflict')).to.have.lengthOf(7);
    });

    it('lets exactly one of many racing updaters win each revision', async () => {
      let revision = await storedRevision(store.create(key, text('0')));
      for (let round = 0; round < 5; round += 1) {
        const expected = revision;
        const outcomes = await Promise.all(
          Array.from({ length: 6 }, (_, n) => (n % 2 ? store : harness.other).update(key, text(`${n}`), expected)),
        );
        const winners = outcomes.filter((outcome) => outcome.kind === 'stored');
        expect(winners).to.have.lengthOf(1);
        revision = (winners[0] as { revision: number }).revision;
      }
    });

    it('removes a deleted key, refuses its old revision, and gives a new one a greater revision', async () => {
      const before = await storedRevision(store.create(key, text('session')));
      await store.delete(key);
      await eventually(async () => expect(await harness.other.get(key)).to.equal(undefined));
      expect(await store.update(key, text('revenant'), before)).to.deep.equal({ kind: 'conflict' });
      const again = await storedRevision(store.create(key, text('session 2')));
      expect(again).to.be.greaterThan(before);
    });

    it('accepts the deletion of a missing key', async () => {
      await store.delete(key);
      expect(await store.get(key)).to.equal(undefined);
    });

    it('lists the live keys below a prefix', async () => {
      const prefix = `session.${made}.`;
      for (const id of ['a', 'b', 'c']) await storedRevision(store.create(`${prefix}${id}`, text(id)));
      await storedRevision(store.create(`other.${made}.d`, text('d')));
      await store.delete(`${prefix}b`);
      await eventually(async () => {
        expect((await harness.other.keys(prefix)).sort()).to.deep.equal([`${prefix}a`, `${prefix}c`]);
      });
      expect(await store.keys(`nothing.${made}.`)).to.deep.equal([]);
    });

    it('keeps its own copy of the bytes', async () => {
      const value = text('before');
      await storedRevision(store.create(key, value));
      value.fill(0);
      const read = await eventually(async () => {
        const record = await store.get(key);
        expect(textOf(record?.value)).to.equal('before');
        return record;
      });
      read?.value.fill(0);
      expect(textOf((await store.get(key))?.value)).to.equal('before');
    });
  });
}

async function storedRevision(outcome: Promise<LeaseOutcome>): Promise<number> {
  const settled = await outcome;
  expect(settled.kind).to.equal('stored');
  return (settled as { revision: number }).revision;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const textOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes);
