/** Proves RRE1–RRE4. */
import { expect } from 'chai';
import { type RecoveredStep, type RecoveryEnd, recover, recoverFollowing } from '../../../src/journal/index.js';
import { type ErrorCode, isMillraceError } from '../../../src/kernel/index.js';
import { silentLog } from '../../support/silent-log.js';
import { JournalStand } from './journal-stand.js';
import { ALPHA, BETA, CLUSTER, SHARD } from './shard-history.js';

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
  steps.flatMap((step) =>
    step.kind === 'manifest' ? [step.manifest?.head.number ?? 'none'] : step.reads.map(({ entry }) => entry.number),
  );

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
  it('starts without a snapshot in an empty journal', async () => {
    expect(numbersOf(await stepsOf(new JournalStand()))).to.deep.equal(['none']);
  });

  it('returns every entry up to the claim where there is no snapshot', async () => {
    const world = await world4();
    await world.history.claim();
    expect(numbersOf(await stepsOf(world))).to.deep.equal(['none', 1, 2, 3, 4]);
  });

  it('returns many entries in steps that are bounded in number and bytes', async () => {
    const world = new JournalStand();
    await world.history.claim();
    for (let at = 0; at < 40; at += 1) await world.history.batch({ [ALPHA]: [`SET a ${at}`] });
    for (let at = 0; at < 2; at += 1) await world.history.batch({ [ALPHA]: [`SET a ${'v'.repeat(300_000)}`] });
    await world.history.claim();
    const sizes = (await stepsOf(world)).flatMap((step) => (step.kind === 'entries' ? [step.reads.length] : []));
    expect(sizes).to.deep.equal([32, 10, 1, 1]);
  });

  it('returns the newest snapshot, its command ids, and the later entries', async () => {
    const world = await world4();
    await world.compact();
    await world.history.batch({ [BETA]: ['SET b 2'] });
    await world.history.claim();
    const steps = await stepsOf(world);
    expect(numbersOf(steps)).to.deep.equal([3, 4, 5]);
    const [first] = steps;
    expect(first?.kind === 'manifest' && first.recentCommandIds).to.deep.equal([['cmd-1', world.history.clockMs]]);
  });

  it('reports the chain of every partition at its end', async () => {
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

  it('skips chunks that a dead owner left before the claim', async () => {
    const world = new JournalStand({ chunkBytes: 300 });
    await world.history.claim();
    await world.history.abandon(Buffer.alloc(2000), 2);
    await world.history.claim();
    expect(numbersOf(await stepsOf(world))).to.deep.equal(['none', 1, 2]);
  });

  it('reports damage when the claim is missing, or another entry is at its position', async () => {
    const world = await world4();
    const { head } = world.history;
    await expectFailure(stepsOf(world, { ...head, number: head.number + 1 }), 'JOURNAL_DAMAGED');
    await expectFailure(stepsOf(world, { ...head, hash: new Uint8Array(32) }), 'JOURNAL_DAMAGED');
  });

  it('reports damage when a link of the chain is broken', async () => {
    const world = await world4();
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { previousHash: new Uint8Array(32) });
    await expectFailure(stepsOf(world), 'JOURNAL_DAMAGED');
  });

  it('finds the entry that the lease names, in the entries or at the end of the snapshot', async () => {
    const world = await world4();
    const vouched = world.history.head;
    await world.history.claim();
    expect(numbersOf(await stepsOf(world, world.history.head, vouched))).to.have.length(5);
    await world.compact();
    await world.history.claim();
    expect(numbersOf(await stepsOf(world, world.history.head, vouched))).to.have.length(2);
  });

  it('reports damage when the entry that the lease names is different or gone', async () => {
    const world = await world4();
    const { head } = world.history;
    const other = { number: head.number, hash: new Uint8Array(32) };
    await expectFailure(stepsOf(world, head, other), 'JOURNAL_DAMAGED');
    await expectFailure(stepsOf(world, head, { ...other, number: head.number + 1 }), 'JOURNAL_DAMAGED');
    await world.compact();
    await expectFailure(stepsOf(world, head, other), 'JOURNAL_DAMAGED');
  });

  it('reports damage when entries between snapshot and journal are missing', async () => {
    const world = await world4();
    await world.compact();
    await world.history.batch({ [ALPHA]: ['SET a 3'] });
    await world.history.claim();
    await world.memoryJournal.truncateFront(SHARD, world.history.head.position);
    await expectFailure(stepsOf(world), 'JOURNAL_DAMAGED');
  });

  it('reports damage when the front is gone and there is no snapshot', async () => {
    const world = await world4();
    await world.memoryJournal.truncateFront(SHARD, 2);
    await expectFailure(stepsOf(world), 'JOURNAL_DAMAGED');
  });

  it('reports damage when a snapshot covers more entries than the journal has', async () => {
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

  describe('of a journal that its owner still writes', () => {
    /** A follower that reads the journal when a test calls it. */
    function follower(world: JournalStand) {
      const steps: RecoveredStep[] = [];
      let end: RecoveryEnd | undefined;
      let look = (): void => {};
      let isWaiting = (): void => {};
      let levels = 0;
      const coming = {
        get end() {
          return end;
        },
        level: () => {
          levels += 1;
        },
        wait: () =>
          new Promise<void>((resolve) => {
            look = resolve;
            isWaiting();
          }),
      };
      const waits = (): Promise<void> =>
        new Promise((resolve) => {
          isWaiting = resolve;
        });
      const ports = { journal: world.memoryJournal, objects: world.memoryObjects, log: silentLog };
      const run = async (): Promise<void> => {
        for await (const step of recoverFollowing(ports, SHARD, coming).steps) steps.push(step);
      };
      const first = waits();
      const over = run();
      return {
        steps,
        first,
        levels: () => levels,
        async look() {
          const next = waits();
          look();
          await Promise.race([next, over]);
        },
        async claimed(claim: Claim, highWater: HighWater) {
          end = { claim, highWater };
          look();
          await over;
        },
      };
    }

    it('returns entries as they are stored, and at the end the rest before the claim (RRE4)', async () => {
      const world = await world4();
      const following = follower(world);
      await following.first;
      expect(numbersOf(following.steps)).to.deep.equal(['none', 1, 2, 3]);
      expect(following.levels()).to.equal(1);
      await world.history.batch({ [ALPHA]: ['SET a 3'] });
      await following.look();
      expect(numbersOf(following.steps)).to.deep.equal(['none', 1, 2, 3, 4]);
      const vouched = await world.history.batch({ [BETA]: ['SET b 2'] });
      await following.claimed(await world.history.claim(), vouched);
      expect(numbersOf(following.steps)).to.deep.equal(['none', 1, 2, 3, 4, 5, 6]);
    });

    it('waits for the rest of a partly stored entry', async () => {
      const world = new JournalStand({ chunkBytes: 300 });
      await world.history.claim();
      await world.history.abandon(Buffer.alloc(2000), 2);
      const following = follower(world);
      await following.first;
      const claim = await world.history.claim();
      await following.claimed(claim, undefined);
      expect(numbersOf(following.steps)).to.deep.equal(['none', 1, 2]);
    });

    it('reports damage when the entry that the lease names is different, even if it was returned before', async () => {
      const world = await world4();
      const following = follower(world);
      await following.first;
      const { number } = world.history.head;
      const end = following.claimed(await world.history.claim(), { number, hash: new Uint8Array(32) });
      await expectFailure(end, 'JOURNAL_DAMAGED');
    });

    it('is fenced when a later owner claimed the shard before it received its own claim', async () => {
      const world = await world4();
      const following = follower(world);
      await following.first;
      const claim = await world.history.claim();
      await world.history.claim();
      await following.look();
      await expectFailure(following.claimed(claim, undefined), 'FENCED');
    });
  });
});
