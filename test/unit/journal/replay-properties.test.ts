/** Random programs of every family: each moment of their history can be replayed, and differences are complete. */
import { expect } from 'chai';
import { admit, ErrorReply } from '../../../src/domain/kv/index.js';
import { diffShard, type KeyLook, ShardReplay } from '../../../src/journal/index.js';
import { keyedKvFold } from '../../../src/replay/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, SHARD } from '../../spec/journal/shard-history.js';
import { repetitions } from '../../support/depth.js';
import { Dice, PROGRAMS } from '../../support/random-programs/index.js';

const SEED = Number(process.env.PROPERTY_SEED ?? 1) || 1;
const COMMANDS = repetitions(250, 120);
const LEAST_CHANGES = 20;
const MOMENTS = 6;
/** Replay uses no random numbers. */
const NO_RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0 };
const KEEP_ALL = { stepBytes: 2000, segmentBytes: 500, retention: { maxAgeMs: 1e15, maxBytes: 1e15 } };

const newFold = () => keyedKvFold(NO_RANDOM, () => 0);
const position = (at: number) => ({ kind: 'position' as const, position: at });
const ALPHA_ALONE = { shard: SHARD, partitions: [ALPHA], foldFactory: newFold };

/** A journal of the commands with some snapshots, and the digest of the live state at each position. */
async function historyOf(family: string): Promise<{ world: JournalStand; digests: Map<number, string> }> {
  const world = new JournalStand();
  const { history } = world;
  const dice = new Dice(SEED);
  const shapes = (PROGRAMS.get(family) as NonNullable<ReturnType<typeof PROGRAMS.get>>)(dice, 8);
  const live = keyedKvFold({ ...NO_RANDOM, float: new Dice(SEED + 3).float }, () => history.clockMs);
  const { engine } = live;
  const digests = new Map<number, string>();
  await history.claim();
  digests.set(history.head.position, live.digest());
  // Some families write rarely: their programs continue until they have made enough changes.
  for (let i = 0; i < COMMANDS || digests.size < LEAST_CHANGES; i += 1) {
    history.clockMs += 10;
    const words = i % 97 === 96 ? ['FLUSHALL'] : dice.pick(shapes)();
    const spec = admit(words);
    if (spec instanceof ErrorReply) continue;
    engine.execute(spec, words, history.clockMs);
    const { effects } = engine;
    if (effects.count === 0) continue;
    const section = history.section(ALPHA, effects.take());
    await history.append({ kind: 'batch', commandIds: [], sections: [section] });
    digests.set(history.head.position, live.digest());
    if (dice.chance(0.03)) await world.compact(KEEP_ALL);
  }
  return { world, digests };
}

for (const family of PROGRAMS.keys()) {
  describe(`the history of ${family} commands (PROPERTY_SEED=${SEED})`, () => {
    it('is replayed to the digest of the live state at each moment, from any start of the replay', async () => {
      const { world, digests } = await historyOf(family);
      const replay = await ShardReplay.open(world.ports, ALPHA_ALONE, position(1));
      for (const [at, digest] of digests) {
        await replay.advance(position(at));
        expect(replay.folds.get(ALPHA)?.digest(), `position ${at}`).to.equal(digest);
      }
      await replay.close();
      const dice = new Dice(SEED + 1);
      for (const at of Array.from({ length: MOMENTS }, () => dice.pick([...digests.keys()]))) {
        const again = await ShardReplay.open(world.ports, ALPHA_ALONE, position(at));
        await again.close();
        expect(again.folds.get(ALPHA)?.digest(), `position ${at}`).to.equal(digests.get(at));
      }
    });

    it('differs between two moments in exactly the keys of the difference', async () => {
      const { world, digests } = await historyOf(family);
      const dice = new Dice(SEED + 2);
      for (let i = 0; i < MOMENTS; i += 1) {
        const [from, to] = [dice.pick([...digests.keys()]), dice.pick([...digests.keys()])].sort((a, b) => a - b) as [
          number,
          number,
        ];
        const range = { from: position(from), to: position(to) };
        const { changes } = await diffShard(world.ports, ALPHA_ALONE, range);
        const found = new Map([...changes].map((change) => [change.key, change]));
        const before = await keysAt(world, from);
        const after = await keysAt(world, to);
        for (const key of new Set([...before.keys(), ...after.keys(), ...found.keys()])) {
          if (key === undefined) continue;
          const change = found.get(key);
          const [was, is] = [before.get(key), after.get(key)];
          const expected = expectedChange(was, is);
          if (expected === 'same' && change === undefined) continue;
          expect(change?.change, `${key} from ${from} to ${to}`).to.equal(expected);
          expect([change?.before?.digest, change?.after?.digest]).to.deep.equal([was?.digest, is?.digest]);
          if (expected !== 'same' && change?.hasExpired !== true) expect(change?.entryCount).to.be.greaterThan(0);
        }
      }
    });
  });
}

/** Every key that is visible after the entry. */
async function keysAt(world: JournalStand, at: number): Promise<Map<string, KeyLook>> {
  const replay = await ShardReplay.open(world.ports, ALPHA_ALONE, position(at));
  await replay.close();
  const fold = replay.folds.get(ALPHA) as ReturnType<typeof newFold>;
  const looks = new Map<string, KeyLook>();
  for (const key of fold.keys()) {
    const look = fold.look(key, replay.head.clockMs, false);
    if (look !== undefined) looks.set(key, look);
  }
  return looks;
}

function expectedChange(was: KeyLook | undefined, is: KeyLook | undefined): string {
  if (was === undefined) return is === undefined ? 'same' : 'created';
  if (is === undefined) return 'deleted';
  return was.digest === is.digest ? 'same' : 'changed';
}
