/**
 * The same commands to the Millrace engine and to real servers; known-differences.ts lists the permitted differences.
 */
import { expect } from 'chai';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { findCommand } from '../../src/domain/kv/index.js';
import { ALL_CASES } from '../spec/kv/cases/index.js';
import { type KvCase, NOW, wordsOf } from '../support/kv-case.js';
import { RandomCommands } from '../support/random-commands.js';
import { REDIS_BINARIES, redisVersion, startRedis } from '../support/redis-server.js';
import { standOfAllTests } from '../support/stand-hooks.js';
import { KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.js';
import { MORE_CASES } from './more-cases.js';
import { bulks, Pair } from './pair.js';
import { SEED } from './seed.js';

const SEQUENCES = 30;
const COMMANDS_A_SEQUENCE = 200;

/** The oldest major version that knows the command and its options. */
function neededMajor(line: string | readonly string[]): number {
  const words = wordsOf(line, NOW);
  const spec = words.length === 0 ? undefined : findCommand(words);
  if (words.some((word) => /^(IFD?(EQ|NE)|(KEEP|DEL)REF|ACKED|IDMP(AUTO)?)$/i.test(word))) return 8;
  if (words.some((word) => /^WITHSCORE$/i.test(word))) return 8;
  if (spec?.name === 'XREAD' && words.at(-1) === '+') return 8;
  return spec === undefined || Number.parseFloat(spec.since) <= 7 ? 7 : 8;
}

const CASES: readonly KvCase[] = [...ALL_CASES, ...MORE_CASES];
const met = new Set<KnownDifference>();
const skipped: string[] = [];

for (const [label, binary] of Object.entries(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  if (version === undefined) {
    skipped.push(label);
    console.log(`      skipped: no ${label} redis-server at ${binary}`);
    continue;
  }
  const major = Number(version.split('.')[0]);
  describe(`differential: redis-server ${version}`, function () {
    this.timeout(60_000);
    const server = standOfAllTests(() => startRedis(binary));
    let pair: Pair;
    before(async () => {
      pair = new Pair(server.client, met);
    });

    it('every case of the specs has the same answer and the same state afterwards', async () => {
      const failures: string[] = [];
      for (const kvCase of CASES) {
        // Their documents, and released entries, would be missing on the real server.
        if (kvCase.given.some((line) => /^(SEARCH\.\w+|XNACK)$/.test(wordsOf(line, NOW)[0] ?? ''))) continue;
        if (neededMajor(kvCase.when) > major || kvCase.given.some((line) => neededMajor(line) > major)) continue;
        try {
          await pair.reset();
          for (const line of kvCase.given) await pair.run(line);
          await pair.run(kvCase.when);
          await pair.compareState();
        } catch (error) {
          failures.push(`${kvCase.title}: ${detail(error)}`);
        }
      }
      expect(failures.join('\n')).to.equal('');
    });

    it(`random commands have the same answers, and the server reproduces the state from the effects (DIFFERENTIAL_SEED=${SEED})`, async () => {
      for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
        const commands = new RandomCommands(SEED + sequence, major);
        const history: string[] = [];
        const effects: string[][] = [];
        await pair.reset();
        pair.bench.onEffect = (words) => effects.push(words);
        try {
          for (let i = 0; i < COMMANDS_A_SEQUENCE; i += 1) {
            const words = commands.next();
            history.push(words.join(' '));
            await pair.run(words);
          }
          await pair.compareState();
          pair.bench.expectReplayed();
          await server.client.call(['FLUSHALL']);
          for (const words of effects) expect(await server.client.send(encodeCommand(words))).not.to.match(/^-/);
          await pair.compareState();
        } catch (error) {
          throw new Error(
            `DIFFERENTIAL_SEED=${SEED + sequence}: ${detail(error)}; last: ${history.slice(-12).join(' | ')}`,
          );
        }
      }
    });

    it('dump payloads are accepted in both directions', async () => {
      const values = [
        '',
        '0',
        '127',
        '-128',
        '32767',
        '-32769',
        '2147483647',
        '2147483648',
        'short',
        'x'.repeat(63),
        'y'.repeat(64),
        'ab'.repeat(10_000),
        '\x00\xff'.repeat(300),
        'z'.repeat(20_000),
        randomText(70_000),
      ];
      for (const value of values) {
        await pair.reset();
        await server.client.call(['SET', 'k', value]);
        const [theirs] = bulks(await server.client.call(['DUMP', 'k']));
        expect(pair.bench.run(['RESTORE', 'k', '0', theirs as string]).reply).to.have.property('text', 'OK');
        expect(pair.bench.engine.keyspace.peek('k')).to.equal(value);
        const ours = pair.bench.run(['DUMP', 'k']).reply as string;
        expect(await server.client.call(['RESTORE', 'k', '0', ours, 'REPLACE'])).to.equal('+OK\r\n');
        expect(bulks(await server.client.call(['GET', 'k']))[0] ?? '').to.equal(value);
      }
    });
  });
}

describe('differential: known differences', () => {
  it('each still occurs', function () {
    if (skipped.length > 0) return this.skip();
    const unused = KNOWN_DIFFERENCES.filter((known) => !met.has(known) && known.mayNotShow === undefined);
    expect(unused.map((known) => known.name)).to.deep.equal([]);
  });
});

/** Text that LZF compresses with references of many lengths and distances. */
function randomText(length: number): string {
  let text = '';
  let state = 7;
  while (text.length < length) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    text += `word${(state >>> 16) % 500} `;
  }
  return text;
}

function detail(error: unknown): string {
  const { message, actual, expected } = error as { message: string; actual?: unknown; expected?: unknown };
  if (actual === undefined) return message;
  return `ours ${JSON.stringify(actual)}, theirs ${JSON.stringify(expected)}`;
}
