/**
 * Every command with odd arguments, on keys of every type. For every request an engine:
 *
 *  FZC1 answers with a reply, and throws refusals only
 *  FZC2 changes no key when it refuses, except by scripts and transactions
 *  FZC3 records effects that replay to the same keyspace, byte for byte; the commands of a rebuild give the same
 *  FZC4 records no effect for a command that only reads
 *  FZC5 ends within a second, or runs the command in slices
 */
import { expect } from 'chai';
import {
  type Aggregate,
  BigNumberReply,
  Blocked,
  BooleanReply,
  type Caller,
  DoubleReply,
  ErrorReply,
  findCommand,
  KeyedReply,
  MapReply,
  NilArray,
  PairsReply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../../src/domain/kv/index.js';
import { KvBench, readable } from '../support/kv-bench.js';
import { NOW } from '../support/kv-case.js';
import { itHolds } from './fuzz-run.js';
import { FILLING, oddCommand } from './odd-words.js';

const COMMANDS_A_ROUND = 150;
/** FZC5, of the processor's time: others use the machine too. A collection of garbage may fall into it. */
const MAX_COMMAND_MS = 1_000;

const CALLERS: readonly Caller[] = [
  {},
  { endpoint: 'resp', protocol: 2 },
  { endpoint: 'resp', protocol: 3, mayBlock: true },
  { endpoint: 'resp', protocol: 3, isNested: true },
];

describe('fuzz: commands with odd arguments', () => {
  itHolds('are answered, and replay and rebuild to the same keyspace', 40, (random) => {
    const bench = new KvBench(random.seed);
    for (const line of FILLING) {
      expect(readable(bench.run(line).reply), line.slice(0, 2).join(' ')).not.to.match(/^-/);
    }
    const history: string[] = [];
    try {
      for (let i = 0; i < COMMANDS_A_ROUND; i += 1) {
        const words = oddCommand(random);
        history.push(shown(words));
        bench.caller = random.pick(CALLERS);
        if (random.chance(0.02)) bench.nowMs = NOW + random.below(2000);
        runAndCheck(bench, words);
        if (random.chance(0.05)) bench.expectReplayed();
      }
      bench.expectReplayed();
      bench.expectRebuilt();
    } catch (error) {
      const failure = error as Error;
      failure.message += `\nlast: ${history.slice(-4).join('\n      ')}`;
      throw failure;
    }
  });
});

function runAndCheck(bench: KvBench, words: readonly string[]): void {
  const start = process.cpuUsage();
  const { reply, effects } = bench.run(words);
  const tookMs = process.cpuUsage(start).user / 1000;
  if ((reply as unknown) instanceof Blocked) {
    expect(bench.caller.mayBlock, 'a caller that may wait').to.equal(true);
    expect(effects, 'effects of waiting').to.satisfy((all: string[]) =>
      all.every((effect) => /^(DEL|UNLINK|HDEL) /.test(effect)),
    );
    expectWellFormed((reply as unknown as Blocked).onTimeout);
    return;
  }
  expectWellFormed(reply);
  const spec = findCommand(words);
  const isScript = spec?.flags.includes('script') === true;
  // What a command meets expired it removes, whatever it says then.
  const changes = effects.filter((effect) => !/^(DEL|UNLINK|HDEL) /.test(effect));
  if (reply instanceof ErrorReply && !isScript) expect(changes, 'effects of a refused command').to.deep.equal([]);
  if (spec?.flags.includes('readonly') && !isScript) expect(effects, 'effects of a read').to.deep.equal([]);
  if (spec?.sliced === undefined && !isScript) expect(tookMs, 'milliseconds of it').to.be.lessThan(MAX_COMMAND_MS);
}

/** Everything in a reply is of a kind that the codecs know. */
function expectWellFormed(reply: unknown): void {
  if (reply === null || typeof reply === 'bigint' || reply instanceof NilArray) return;
  if (typeof reply === 'number') expect(Number.isSafeInteger(reply), `the number ${reply}`).to.equal(true);
  else if (typeof reply === 'string') expectBytes(reply);
  // The codecs write an error in one line, whatever it quotes.
  else if (reply instanceof ErrorReply) expectBytes(reply.text + reply.restText);
  else if (reply instanceof SimpleString) expect(reply.text, 'a line').to.match(/^[ -~]*$/);
  else if (Array.isArray(reply)) reply.forEach(expectWellFormed);
  else if (AGGREGATES.some((kind) => reply instanceof kind)) (reply as Aggregate).items.forEach(expectWellFormed);
  else if (reply instanceof VerbatimReply) expectBytes(reply.text);
  else if (reply instanceof BigNumberReply) expect(reply.text, 'a big number').to.match(/^-?[0-9]+$/);
  else if (reply instanceof DoubleReply) expect(reply.value, 'a double').not.to.equal(Number.NaN);
  else expect(reply, 'a reply').to.be.instanceOf(BooleanReply);
}

const AGGREGATES = [MapReply, SetReply, PairsReply, KeyedReply];

function expectBytes(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes are what this is about
  expect(/^[\x00-\xff]*$/.test(text), 'a byte string').to.equal(true);
}

function shown(words: readonly string[]): string {
  return words
    .map((word) => (word.length > 60 ? `${JSON.stringify(word.slice(0, 40))}…${word.length}` : JSON.stringify(word)))
    .join(' ');
}
