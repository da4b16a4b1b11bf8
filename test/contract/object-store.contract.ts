/**
 * Promises of every object store (src/ports/object-store.ts): names written once, objects complete or absent. Proves
 * JO2, JO3.
 */
import { expect } from 'chai';
import { isMillraceError } from '../../src/kernel/index.js';
import type { ObjectStore } from '../../src/ports/index.js';
import { eventually } from '../support/eventually.js';
import { standOfAllTests } from '../support/stand-hooks.js';

export interface ObjectStoreHarness {
  readonly store: ObjectStore;
  /** A second client of the same server. */
  readonly other: ObjectStore;
  /** Damages a stored object from outside the adapter; absent where that is impossible. */
  damage?(name: string): Promise<void>;
  close(): Promise<void>;
}

/** @param canDamage whether its harness can damage stored objects */
export function objectStoreContract(
  name: string,
  makeHarness: () => Promise<ObjectStoreHarness>,
  canDamage = false,
): void {
  describe(`object store contract: ${name}`, () => {
    const harness = standOfAllTests(() => makeHarness());
    let store: ObjectStore;
    let prefix: string;
    let made = 0;

    before(async () => {
      store = harness.store;
    });

    beforeEach(() => {
      made += 1;
      prefix = `KV_${made}/kv:db-0:0/`;
    });

    it('has no object for a name that was never put', async () => {
      expect(await store.get(`${prefix}nothing`)).to.equal(undefined);
    });

    it('returns every byte, also to another client', async () => {
      const everyByte = Uint8Array.from({ length: 256 }, (_, value) => value);
      await store.put(`${prefix}bytes`, everyByte);
      await eventually(async () => expectSameBytes(await harness.other.get(`${prefix}bytes`), everyByte));
    });

    it('holds an empty object, which differs from a missing one', async () => {
      await store.put(`${prefix}empty`, new Uint8Array(0));
      await eventually(async () => expect((await store.get(`${prefix}empty`))?.length).to.equal(0));
    });

    it('holds an object larger than one message', async () => {
      const large = Uint8Array.from({ length: 3 * 1024 * 1024 + 17 }, (_, index) => (index * 31 + (index >> 9)) & 0xff);
      await store.put(`${prefix}large`, large);
      await eventually(async () => expectSameBytes(await harness.other.get(`${prefix}large`), large));
    });

    it('accepts the same contents again, and refuses others', async () => {
      await store.put(`${prefix}once`, text('first'));
      await store.put(`${prefix}once`, text('first'));
      const failure = await harness.other.put(`${prefix}once`, text('second')).then(
        () => 'it succeeded',
        (error: unknown) => error,
      );
      expect(isMillraceError(failure, 'CONFLICT'), String(failure)).to.equal(true);
      expectSameBytes(await store.get(`${prefix}once`), text('first'));
    });

    it('lists names and sizes below a prefix', async () => {
      await store.put(`${prefix}a`, text('1'));
      await store.put(`${prefix}b`, text('22'));
      await store.put(`elsewhere/${made}`, text('333'));
      await eventually(async () => {
        const listed = [...(await harness.other.list(prefix))].sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(listed.map(({ name, bytes }) => [name, bytes])).to.deep.equal([
          [`${prefix}a`, 1],
          [`${prefix}b`, 2],
        ]);
      });
      expect(await store.list(`nowhere/${made}`)).to.deep.equal([]);
    });

    it('removes a deleted object from get and list, and accepts the deletion of a missing one', async () => {
      await store.put(`${prefix}gone`, text('x'));
      await store.delete(`${prefix}gone`);
      await store.delete(`${prefix}gone`);
      await store.delete(`${prefix}never`);
      await eventually(async () => {
        expect(await harness.other.get(`${prefix}gone`)).to.equal(undefined);
        expect(await harness.other.list(prefix)).to.deep.equal([]);
      });
    });

    it('keeps its own copy of the bytes', async () => {
      const bytes = text('before');
      await store.put(`${prefix}copy`, bytes);
      bytes.fill(0);
      (await store.get(`${prefix}copy`))?.fill(0);
      expectSameBytes(await store.get(`${prefix}copy`), text('before'));
    });

    if (!canDamage) return;
    it('fails as damaged when the bytes do not match their digest', async () => {
      await store.put(`${prefix}rotten`, text('sound'));
      await harness.damage?.(`${prefix}rotten`);
      const failure = await store.get(`${prefix}rotten`).then(
        () => 'it succeeded',
        (error: unknown) => error,
      );
      expect(isMillraceError(failure, 'JOURNAL_DAMAGED'), String(failure)).to.equal(true);
    });
  });
}

function expectSameBytes(actual: Uint8Array | undefined, expected: Uint8Array): void {
  expect(actual === undefined ? 'nothing' : Buffer.compare(actual, expected)).to.equal(0);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
