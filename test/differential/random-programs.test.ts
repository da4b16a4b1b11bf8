/**
 * Random programs of each family, to the Millrace engine and to real servers. Every reply and the final state are
 * compared; the effects, replayed by Millrace and by the server, give the same state. Proves KE4, ZS1.
 */
import { expect } from 'chai';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { Dice, PROGRAMS } from '../support/random-programs/index.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../support/redis-server.js';
import type { KnownDifference } from './known-differences.js';
import { Pair } from './pair.js';
import { SEED } from './seed.js';

/** Steps of a family against each server; `DIFFERENTIAL_STEPS` for more. */
const STEPS = Number(process.env.DIFFERENTIAL_STEPS ?? 10_000);
const STEPS_A_PROGRAM = 250;
/** From which sizes the newer server packs values otherwise: every second program gets there with a few elements. */
const SMALL_LIMITS: readonly (readonly [name: string, standard: string, small: string])[] = [
  ['hash-max-listpack-entries', '128', '2'],
  ['hll-sparse-max-bytes', '3000', '60'],
  ['list-max-listpack-size', '-2', '3'],
  ['set-max-intset-entries', '512', '2'],
  ['set-max-listpack-entries', '128', '3'],
  ['stream-node-max-entries', '100', '3'],
  ['zset-max-listpack-entries', '128', '3'],
];
/** Run one family alone. */
const ONLY = process.env.DIFFERENTIAL_FAMILY;

for (const binary of Object.values(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  describe(`differential: random programs against ${binary}`, function () {
    // Ten thousand round trips to another process.
    this.timeout(300_000);
    let server: RedisServer;
    let pair: Pair;

    before(async function () {
      if (version === undefined) return this.skip();
      server = await startRedis(binary);
      pair = new Pair(server.client, new Set<KnownDifference>());
    });
    after(async () => server?.stop());

    for (const [family, program] of PROGRAMS) {
      if (ONLY !== undefined && ONLY !== family) continue;
      it(`${family}: replies, state and effects are alike (DIFFERENTIAL_SEED=${SEED})`, async () => {
        const major = Number.parseInt(version as string, 10);
        for (let run = 0; run * STEPS_A_PROGRAM < STEPS; run += 1) {
          const seed = SEED + run;
          const dice = new Dice(seed);
          const shapes = program(dice, major);
          const history: string[] = [];
          const effects: string[][] = [];
          await pair.reset();
          pair.bench.onEffect = (words) => effects.push(words);
          try {
            for (const [name, standard, small] of major < 8 ? [] : SMALL_LIMITS) {
              await pair.run(['CONFIG', 'SET', name, seed % 2 === 0 ? standard : small]);
            }
            for (let i = 0; i < STEPS_A_PROGRAM; i += 1) {
              const words = dice.pick(shapes)();
              history.push(words.join(' '));
              await pair.run(words);
              if (pair.haveParted) break;
            }
            await pair.compareState();
            pair.bench.expectReplayed();
            pair.bench.expectRebuilt();
            if (pair.haveParted) continue;
            await server.client.call(['FLUSHALL']);
            await server.client.call(['FUNCTION', 'FLUSH']);
            for (const words of effects) {
              expect(await server.client.send(encodeCommand(words)), words.join(' ')).not.to.match(/^-/);
            }
            await pair.compareState();
          } catch (error) {
            const { message } = error as Error;
            const detail = JSON.stringify(error, ['actual', 'expected', 'words', 'reply'], 1);
            throw new Error(
              `DIFFERENTIAL_SEED=${seed} DIFFERENTIAL_FAMILY=${family}: ${message}\n${detail}\nlast: ${history.slice(-12).join(' | ')}`,
            );
          }
        }
      });
    }
  });
}
