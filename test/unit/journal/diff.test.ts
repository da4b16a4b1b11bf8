/** Proves DF1–DF4. */
import { expect } from 'chai';
import { type DiffOptions, diffShard, type KeyChange } from '../../../src/journal/index.js';
import type { Moment } from '../../../src/protocol/index.js';
import { keyedKvFold } from '../../../src/replay/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, SHARD } from '../../spec/journal/shard-history.js';

const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0 };

async function worldOf(...batches: readonly (readonly (string | readonly string[])[])[]): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  for (const commands of batches) {
    world.history.clockMs += 1000;
    await world.history.batch({ [ALPHA]: commands });
  }
  return world;
}

/** The n-th batch ends at position n + 1; the claim is before it. */
const behind = (batch: number): Moment => ({ kind: 'position', position: batch + 1 });

async function changes(world: JournalStand, from: Moment, to: Moment, options: DiffOptions = {}): Promise<KeyChange[]> {
  const fold = () => keyedKvFold(RANDOM, () => 0);
  const diff = await diffShard(
    world.ports,
    { shard: SHARD, partitions: [ALPHA], foldFactory: fold },
    { from, to },
    options,
  );
  return [...diff.changes];
}

const shapes = (all: readonly KeyChange[]) =>
  all.map(({ key, change, before, after: now }) => [key, change, before?.type, now?.type]);

describe('the difference between two moments', () => {
  it('lists created, changed and deleted keys with their types, in byte order', async () => {
    const world = await worldOf(
      ['SET stays 1', 'SET changed 1', 'SET gone 1', 'SET b 1'],
      ['SET new 1', 'SET changed 2', 'DEL gone', 'DEL b', 'RPUSH b x'],
    );
    expect(shapes(await changes(world, behind(1), behind(2)))).to.deep.equal([
      ['b', 'changed', 'string', 'list'],
      ['changed', 'changed', 'string', 'string'],
      ['gone', 'deleted', 'string', undefined],
      ['new', 'created', undefined, 'string'],
    ]);
  });

  it('lists the entries that touched a key with their commands, once each', async () => {
    const world = await worldOf(
      ['SET k 1'],
      ['SET k 2', 'APPEND k 3', 'APPEND k 4'],
      ['SET other 1'],
      ['DEL k', 'SET k 5'],
    );
    const [k] = await changes(world, behind(1), behind(4));
    expect(k?.entryCount).to.equal(2);
    expect(k?.entries.map(({ atMs: _, ...entry }) => entry)).to.deep.equal([
      { position: 3, number: 3, index: 2, commands: ['SET', 'APPEND'] },
      { position: 5, number: 5, index: 4, commands: ['DEL', 'SET'] },
    ]);
    expect(k?.entries[1]?.atMs).to.equal(world.history.clockMs);
  });

  it('lists the first and the last entries of a key with many', async () => {
    const world = await worldOf(['SET k 0'], ...Array.from({ length: 50 }, (_, i) => [`SET k ${i}`]));
    const [k] = await changes(world, behind(1), behind(51));
    expect(k?.entryCount).to.equal(50);
    const positions = k?.entries.map(({ position }) => position) ?? [];
    expect([positions.length, positions[0], positions.at(-1)]).to.deep.equal([20, 3, 52]);
  });

  it('reports a key that ended as it began as the same', async () => {
    const world = await worldOf(['SET k 1'], ['SET k 2', 'SET brief 1'], ['SET k 1', 'DEL brief']);
    expect(shapes(await changes(world, behind(1), behind(3)))).to.deep.equal([
      ['brief', 'same', undefined, undefined],
      ['k', 'same', 'string', 'string'],
    ]);
  });

  it('includes keys that FLUSHALL removed, also those that the same entry had created before', async () => {
    const world = await worldOf(['SET a 1', 'SET b 1'], ['SET c 1', 'FLUSHALL', 'SET a 2']);
    const all = await changes(world, behind(1), behind(2));
    expect(shapes(all)).to.deep.equal([
      ['a', 'changed', 'string', 'string'],
      ['b', 'deleted', 'string', undefined],
      ['c', 'same', undefined, undefined],
    ]);
    expect(all.map(({ entries }) => entries[0]?.commands)).to.deep.equal([
      ['FLUSHALL', 'SET'],
      ['FLUSHALL'],
      ['SET', 'FLUSHALL'],
    ]);
  });

  it('includes a changed expiry, and keys that expired between the moments', async () => {
    const world = await worldOf(['SET k 1'], ['PEXPIREAT k 4000000000000'], ['SET other 1']);
    const at = world.history.clockMs;
    expect(shapes(await changes(world, behind(1), behind(2)))).to.deep.equal([['k', 'changed', 'string', 'string']]);
    const soon = await worldOf([`SET k 1 PXAT ${at + 5000}`], ['SET other 1']);
    const to: Moment = { kind: 'time', atMs: at + 5000 };
    const [k] = await changes(soon, { kind: 'time', atMs: at - 2000 }, to);
    expect([k?.key, k?.change, k?.hasExpired, k?.entryCount]).to.deep.equal(['k', 'deleted', true, 0]);
    await soon.history.batch({ [BETA]: ['SET b 1'] });
    soon.history.clockMs += 60_000;
    await soon.history.batch({ [ALPHA]: ['DEL k'] });
    const [removed] = await changes(soon, { kind: 'time', atMs: at - 2000 }, { kind: 'time', atMs: at + 90_000 });
    expect([removed?.change, removed?.hasExpired, removed?.entryCount]).to.deep.equal(['deleted', true, 1]);
    const before: Moment = { kind: 'time', atMs: at + 4999 };
    expect(shapes(await changes(soon, { kind: 'time', atMs: at - 2000 }, before))).to.deep.equal([
      ['other', 'created', undefined, 'string'],
    ]);
  });

  it('shows values only on request', async () => {
    const world = await worldOf(['SET k old'], ['SET k new']);
    const [silent] = await changes(world, behind(1), behind(2));
    expect(JSON.stringify(silent)).to.not.contain('old').and.not.contain('new');
    const [k] = await changes(world, behind(1), behind(2), { withValues: true });
    expect([k?.before?.value, k?.after?.value]).to.deep.equal([[['SET', 'k', 'old']], [['SET', 'k', 'new']]]);
  });

  it('lists parameters and libraries separately from keys', async () => {
    const world = await worldOf(['SET k 1'], [['CONFIG', 'SET', 'maxmemory', '1000000']]);
    const [settings, ...rest] = await changes(world, behind(1), behind(2));
    expect([settings?.change, settings?.key, settings?.entryCount, rest.length]).to.deep.equal([
      'settings',
      undefined,
      1,
      0,
    ]);
  });

  it('leaves out other partitions, and entries outside of the moments', async () => {
    const world = await worldOf(['SET early 1'], ['SET k 1'], ['SET late 1']);
    await world.history.batch({ [BETA]: ['SET b 1'] });
    expect(shapes(await changes(world, behind(1), behind(2)))).to.deep.equal([['k', 'created', undefined, 'string']]);
  });

  it('refuses to compare more keys than its bound', async () => {
    const world = await worldOf(['SET a 1'], ['SET b 1', 'SET c 1', 'SET d 1']);
    const some = await changes(world, behind(1), behind(2), { maxKeys: 3 });
    expect(some).to.have.length(3);
    const refused = await changes(world, behind(1), behind(2), { maxKeys: 2 }).catch((error: Error) => error.message);
    expect(refused).to.contain('choose a shorter time');
  });
});
