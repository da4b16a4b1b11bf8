/** Proves RP1–RP3. */
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { ShardReplay } from '../../../src/journal/index.js';
import type { Moment } from '../../../src/protocol/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, SHARD } from '../../spec/journal/shard-history.js';

const KEEP_ALL = { stepBytes: 100, segmentBytes: 60, retention: { maxAgeMs: 1e15, maxBytes: 1e15 } };

/** Entries: 1 claim; 2, 3 … batches, a second of journal clock apart, each with `SET n <number>`. */
async function history(batches: number): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  for (let i = 0; i < batches; i += 1) await batch(world);
  return world;
}

async function batch({ history }: JournalStand): Promise<void> {
  history.clockMs += 1000;
  const number = history.head.number + 1;
  await history.batch({ [ALPHA]: [`SET n ${number}`, `SET only${number} x`] });
}

function open(
  world: JournalStand,
  at: Moment,
  partitions = [ALPHA],
): Promise<ShardReplay<ReturnType<typeof replayFold>>> {
  return ShardReplay.open(world.ports, { shard: SHARD, partitions, foldFactory: replayFold }, at);
}

async function valueAt(world: JournalStand, at: Moment): Promise<unknown> {
  const replay = await open(world, at);
  await replay.close();
  return replay.folds.get(ALPHA)?.engine.keyspace.stored('n');
}

const position = (at: number): Moment => ({ kind: 'position', position: at });
const time = (atMs: number): Moment => ({ kind: 'time', atMs });

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it was not refused',
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  );
}

describe('a replay of a shard', () => {
  it('ends at the entry at the position, or at the last one not later than the instant', async () => {
    const world = await history(4);
    expect(await valueAt(world, position(1))).to.equal(undefined);
    expect(await valueAt(world, position(3))).to.equal('3');
    const lastMs = world.history.clockMs;
    expect(await valueAt(world, time(lastMs))).to.equal('5');
    expect(await valueAt(world, time(lastMs - 1))).to.equal('4');
    expect(await valueAt(world, time(lastMs - 1000))).to.equal('4');
    expect(await valueAt(world, time(0))).to.equal(undefined);
  });

  it('starts at the newest snapshot that is not later', async () => {
    const world = await history(2);
    await world.compact(KEEP_ALL);
    const first = world.history.head;
    await batch(world);
    await world.compact(KEEP_ALL);
    await batch(world);
    const early = await open(world, position(first.position));
    expect([early.base?.manifest.head.number, early.entries]).to.deep.equal([first.number, 0]);
    const late = await open(world, position(world.history.head.position));
    expect([late.base?.manifest.head.number, late.entries]).to.deep.equal([first.number + 1, 1]);
    expect(late.folds.get(ALPHA)?.engine.keyspace.stored('n')).to.equal('5');
    const before = await open(world, position(2));
    expect([before.base, before.entries]).to.deep.equal([undefined, 2]);
    await Promise.all([early, late, before].map((replay) => replay.close()));
  });

  it('gives the same state, and the same last link, from any start', async () => {
    const world = await history(3);
    const fromBeginning = await open(world, position(4));
    await world.compact(KEEP_ALL);
    const fromSnapshot = await open(world, position(4));
    expect(fromSnapshot.base).to.not.equal(undefined);
    expect(fromSnapshot.folds.get(ALPHA)?.digest()).to.equal(fromBeginning.folds.get(ALPHA)?.digest());
    expect(fromSnapshot.link(ALPHA)).to.deep.equal(fromBeginning.link(ALPHA));
    expect(fromSnapshot.link(ALPHA)).to.deep.equal(world.history.links().get(ALPHA));
    expect(fromSnapshot.link(BETA).number).to.equal(0);
    await Promise.all([fromBeginning.close(), fromSnapshot.close()]);
  });

  it('holds exactly the requested partitions, also empty ones', async () => {
    const world = await history(1);
    await world.history.batch({ [BETA]: ['SET b 1'] });
    const replay = await open(world, position(3), [BETA]);
    expect([...replay.folds.keys()]).to.deep.equal([BETA]);
    expect(replay.folds.get(BETA)?.size).to.equal(1);
    await replay.close();
    const nobody = await open(await history(1), position(2), [BETA]);
    expect(nobody.folds.get(BETA)?.size).to.equal(0);
    await nobody.close();
  });

  it('continues to a later moment, and shows each section before it is applied', async () => {
    const world = await history(4);
    const replay = await open(world, position(2));
    const seen: unknown[] = [];
    await replay.advance(position(4), ({ entry }, { index }, fold) => {
      seen.push([entry.number, index, fold.engine.keyspace.stored('n')]);
    });
    expect(seen).to.deep.equal([
      [3, 2, '2'],
      [4, 3, '3'],
    ]);
    expect(replay.head.number).to.equal(4);
    await replay.advance(time(world.history.clockMs));
    expect(replay.head).to.deep.equal(world.history.head);
    await replay.close();
  });

  it('refuses a moment earlier than the kept history, and names the earliest', async () => {
    const world = await history(3);
    for (let i = 0; i < 2; i += 1) {
      await world.compactAndPurge();
      await batch(world);
    }
    const { first } = await world.memoryJournal.tail(SHARD);
    expect(first).to.be.greaterThan(1);
    const text = await refusal(open(world, position(2)));
    expect(text).to.match(/^INVALID: KV_0: earlier than the kept history: the earliest is position (\d+), 20\S+Z$/);
    const earliest = Number(/position (\d+)/.exec(text)?.[1]);
    expect(await valueAt(world, position(earliest))).to.equal(String(earliest));
    expect(await refusal(open(world, time(0)))).to.contain('earlier than the kept history');
  });

  it('refuses a position that the journal has not reached', async () => {
    expect(await refusal(open(await history(1), position(9)))).to.equal(
      'INVALID: KV_0: there is no position 9 yet, the last is 2',
    );
  });

  it('skips a snapshot that fails its check', async () => {
    const world = await history(2);
    await world.compact(KEEP_ALL);
    const before = world.history.head.position;
    await batch(world);
    await world.compact(KEEP_ALL);
    const newest = (await world.objectNames(`${SHARD}/segment/`)).sort().at(-1) as string;
    const bytes = Buffer.from((await world.memoryObjects.get(newest)) as Uint8Array);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 3) ^ 1, bytes.length - 3);
    await world.memoryObjects.delete(newest);
    await world.memoryObjects.put(newest, bytes);
    const replay = await open(world, position(before + 1));
    expect(replay.base?.manifest.head.position).to.equal(before);
    expect(replay.folds.get(ALPHA)?.engine.keyspace.stored('n')).to.equal('4');
    await replay.close();
  });

  it('stops at damage, and when it is interrupted', async () => {
    const world = await history(2);
    await world.history.append({ kind: 'claim', clusterId: 'x' }, { number: 9 });
    await batch(world);
    expect(await refusal(open(world, position(5)))).to.contain(
      'JOURNAL_DAMAGED: KV_0: an entry does not have the next number',
    );
    const options = { signal: AbortSignal.abort() };
    const aborted = ShardReplay.open(
      world.ports,
      { shard: SHARD, partitions: [ALPHA], foldFactory: replayFold },
      position(2),
      options,
    );
    expect(await refusal(aborted)).to.contain('SHUTTING_DOWN');
  });
});
