/** Proves RRE1–RRE3. */
import { expect } from 'chai';
import { type RecoveredStep, recover } from '../../../src/journal/index.js';
import { type ErrorCode, isMillraceError } from '../../../src/kernel/index.js';
import { JournalStand } from './journal-stand.js';
import { ALPHA, BETA, CLUSTER, SHARD, silentLog } from './shard-history.js';

type Claim = Parameters<typeof recover>[2];
type HighWater = Parameters<typeof recover>[3];

async function stepsOf(
  world: JournalStand,
  claim: Claim = world.history.head,
  highWater?: HighWater,
): Promise<RecoveredStep[]> {
  const { memoryJournal: journal, memoryObjects: objects } = world;
  const steps: RecoveredStep[] = [];
  for await (const step of recover({ journal, objects, log: silentLog }, SHARD, claim, highWater).steps)
    steps.push(step);
  return steps;
}

const numbersOf = (steps: readonly RecoveredStep[]) =>
  steps.map((step) => (step.kind === 'manifest' ? (step.manifest?.head.number ?? 'none') : step.read.entry.number));

async function expectFailure(act: Promise<unknown>, code: ErrorCode): Promise<void> {
  try {
    await act;
  } catch (error) {
    expect(isMillraceError(error, code), String(error)).to.equal(true);
    return;
  }
  expect.fail(`no ${code}`);
}

async function world4(): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  await world.history.batch({ [ALPHA]: ['SET a 1'] }, ['cmd-1']);
  await world.history.batch({ [ALPHA]: ['SET a 2'], [BETA]: ['SET b 1'] });
  return world;
}

describe('journal: recovery', () => {
  it('begins with no snapshot in an empty journal', async () => {
    expect(numbersOf(await stepsOf(new JournalStand()))).to.deep.equal(['none']);
  });

  it('gives every entry up to the claim where there is no snapshot', async () => {
    const world = await world4();
    await world.history.claim();
    expect(numbersOf(await stepsOf(world))).to.deep.equal(['none', 1, 2, 3, 4]);
  });

  it('gives the newest snapshot, what it remembers, and the entries behind it', async () => {
    const world = await world4();
    await world.compact();
    await world.history.batch({ [BETA]: ['SET b 2'] });
    await world.history.claim();
    const steps = await stepsOf(world);
    expect(numbersOf(steps)).to.deep.equal([3, 4, 5]);
    const [first] = steps;
    expect(first?.kind === 'manifest' && first.recentCommandIds).to.deep.equal([['cmd-1', world.history.clockMs]]);
  });

  it('tells where every partition stands once it has ended', async () => {
    const world = await world4();
    await world.compact();
    await world.history.batch({ [BETA]: ['SET b 2'] });
    const ports = { journal: world.memoryJournal, objects: world.memoryObjects, log: silentLog };
    const { steps, links } = recover(ports, SHARD, world.history.head, undefined);
    for await (const _ of steps);
    expect([...links()].map(([name, { number }]) => [name, number])).to.deep.equal([
      [ALPHA, 2],
      [BETA, 2],
    ]);
  });

  it('passes over chunks that a dead owner left before the claim', async () => {
    const world = new JournalStand({ chunkBytes: 300 });
    await world.history.claim();
    await world.history.abandon(Buffer.alloc(2000), 2);
    await world.history.claim();
    expect(numbersOf(await stepsOf(world))).to.deep.equal(['none', 1, 2]);
  });

  it('is damage when the claim is not reached, or another entry stands there', async () => {
    const world = await world4();
    const { head } = world.history;
    await expectFailure(stepsOf(world, { ...head, number: head.number + 1 }), 'JOURNAL_DAMAGED');
    await expectFailure(stepsOf(world, { ...head, hash: new Uint8Array(32) }), 'JOURNAL_DAMAGED');
  });

  it('is damage when a link is broken on the way', async () => {
    const world = await world4();
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { previousHash: new Uint8Array(32) });
    await expectFailure(stepsOf(world), 'JOURNAL_DAMAGED');
  });

  it('finds the entry that was vouched for, in the entries or at the end of the snapshot', async () => {
    const world = await world4();
    const vouched = world.history.head;
    await world.history.claim();
    expect((await stepsOf(world, world.history.head, vouched)).length).to.equal(5);
    await world.compact();
    await world.history.claim();
    expect((await stepsOf(world, world.history.head, vouched)).length).to.equal(2);
  });

  it('is damage when the entry that was vouched for is another, or gone', async () => {
    const world = await world4();
    const { head } = world.history;
    const other = { number: head.number, hash: new Uint8Array(32) };
    await expectFailure(stepsOf(world, head, other), 'JOURNAL_DAMAGED');
    await expectFailure(stepsOf(world, head, { ...other, number: head.number + 1 }), 'JOURNAL_DAMAGED');
    await world.compact();
    await expectFailure(stepsOf(world, head, other), 'JOURNAL_DAMAGED');
  });

  it('is damage when entries between snapshot and journal are missing', async () => {
    const world = await world4();
    await world.compact();
    await world.history.batch({ [ALPHA]: ['SET a 3'] });
    await world.history.claim();
    await world.memoryJournal.truncateFront(SHARD, world.history.head.position);
    await expectFailure(stepsOf(world), 'JOURNAL_DAMAGED');
  });

  it('is damage when the front is gone and there is no snapshot', async () => {
    const world = await world4();
    await world.memoryJournal.truncateFront(SHARD, 2);
    await expectFailure(stepsOf(world), 'JOURNAL_DAMAGED');
  });

  it('is damage when a snapshot covers more than the journal holds', async () => {
    const longer = await world4();
    const shorter = new JournalStand();
    await shorter.history.claim();
    const claim = shorter.history.head;
    const result = await longer.compact();
    for (const name of await longer.objectNames()) {
      await shorter.memoryObjects.put(name, (await longer.memoryObjects.get(name)) as Uint8Array);
    }
    expect(result.coveredNumber).to.be.greaterThan(claim.number);
    await expectFailure(stepsOf(shorter, claim), 'JOURNAL_DAMAGED');
  });

  it('is fenced when a successor has compacted past the claim', async () => {
    const world = await world4();
    const claim = await world.history.claim();
    await world.history.claim();
    await world.compact();
    await expectFailure(stepsOf(world, claim), 'FENCED');
  });
});
