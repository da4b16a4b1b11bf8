/**
 * A stopped script has no effect: random commands of every family run in scripts that are stopped at some point, and
 * the state stays the same to the byte, also for later commands. Proves KE7, RU2, UL1–UL3.
 */
import { expect } from 'chai';
import { RespCommandReader } from '../../../src/codec/resp/index.js';
import {
  type Audience,
  admit,
  digestOf,
  ErrorReply,
  findCommand,
  KvEngine,
  NO_AUDIENCE,
  Paused,
  type Reply,
  rebuildingCommands,
  rebuildingPreamble,
  StateInDoubt,
} from '../../../src/domain/kv/index.js';
import { repetitions } from '../../support/depth.js';
import { readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { processorMicros } from '../../support/processor-time.js';
import { arrayProgram } from '../../support/random-programs/array.js';
import { Dice, PROGRAMS, type Program } from '../../support/random-programs/index.js';
import { json } from '../../support/random-programs/json.js';
import { sketchProgram } from '../../support/random-programs/sketches.js';
import { streamMessages } from '../../support/random-programs/stream-messages.js';

/** Scripts of the first run have no pause, those of the second run in slices. */
const SEEDS = Number(process.env.UNDO_SEEDS ?? 2);
const ROUNDS = repetitions(25, 8);
const MAX_CALLS = 30;
/** Its arguments are commands, each after the number of its words. It never ends by itself. */
const ENDLESS =
  'local at=1 while at<=#ARGV do local n=tonumber(ARGV[at]) redis.pcall(unpack(ARGV,at+1,at+n)) at=at+n+1 for _=1,40 do end end while true do redis.call("exists","") end';
const SERVER = { info: () => new Map() };

/** An engine that stops a script after a number of its commands. */
class Stand {
  nowMs = NOW;
  callsLeft = Number.POSITIVE_INFINITY;
  mayPause = false;
  pauses = 0;
  readonly audience: Audience = {
    ...NO_AUDIENCE,
    noteScriptCall: () => {
      this.callsLeft -= 1;
    },
  };
  readonly engine: KvEngine;
  readonly mirror: KvEngine;

  constructor(seed: number) {
    // While scripts may pause every look finds that the slice is over.
    let looks = 0;
    const nowMicros = () => {
      looks += 1;
      return (this.callsLeft > 0 ? 0 : 3_600_000_000) + (this.mayPause ? looks * 6_000 : 0);
    };
    this.engine = new KvEngine(seededRandom(seed), { ...SERVER, nowMicros }, this.audience);
    this.mirror = new KvEngine(seededRandom(seed), { ...SERVER, nowMicros });
  }

  run(words: readonly string[]): Reply | undefined {
    const spec = admit(words);
    if (spec instanceof ErrorReply) return spec;
    const { engine } = this;
    const caller = { mayPause: this.mayPause };
    const answer = engine.execute(spec, words, this.nowMs, caller);
    let reply: Reply | undefined;
    if (answer instanceof Paused) {
      const rest = engine.rest(answer, words, caller);
      for (; reply === undefined; reply = rest.next(this.nowMs)) {
        this.pauses += 1;
        if (engine.effects.take().length > 0) throw new Error('a script that has paused recorded effects');
      }
    } else {
      reply = answer as Reply;
    }
    for (const effect of new RespCommandReader(this.engine.effects.take())) this.mirror.replay(effect);
    return reply;
  }

  /** Runs the commands in a script that is stopped after some of them. */
  stopped(commands: readonly (readonly string[])[], afterCalls: number): unknown {
    this.callsLeft = afterCalls;
    const reply = this.run(['EVAL', ENDLESS, '0', ...commands.flatMap((words) => [String(words.length), ...words])]);
    this.callsLeft = Number.POSITIVE_INFINITY;
    return readable(reply ?? null);
  }

  look(): unknown {
    const { keyspace, effects } = this.engine;
    const encodings = [...keyspace.entries()].map(
      ([key, value]) => `${key} ${typeof value === 'string' ? keyspace.isRaw(key) : value.encoding}`,
    );
    return {
      digest: digestOf(this.engine),
      keys: keyspace.size,
      bytes: keyspace.bytes,
      expiring: keyspace.expiring,
      fieldExpiry: keyspace.keysWithFieldExpiry,
      effects: effects.count,
      // Of a stream or a list only its name; of the other types the encoding that Redis would report.
      encodings: encodings.sort(),
    };
  }

  expectSound(): void {
    const { keyspace } = this.engine;
    expect(digestOf(this.mirror), 'digest of the replayed effects').to.equal(digestOf(this.engine));
    expect(this.mirror.keyspace.bytes, 'bytes of the replayed effects').to.equal(keyspace.bytes);
    const rebuilt = new KvEngine(seededRandom(1), { ...SERVER, nowMicros: () => 0 });
    for (const words of rebuildingPreamble(this.engine)) rebuilt.replay(words);
    for (const [key, value, atMs] of keyspace.entries()) {
      for (const words of rebuildingCommands(key, value, atMs)) rebuilt.replay(words);
    }
    expect(digestOf(rebuilt), 'digest of what the rebuilding commands make').to.equal(digestOf(this.engine));
  }
}

describe('key-value: a stopped script', () => {
  // The programs `scripting` and `function` are left out: a script cannot run their commands.
  const others: readonly (readonly [string, Program])[] = [
    ['json', json],
    ['array', arrayProgram],
    ['messages of streams', streamMessages],
    ['filters and sketches', sketchProgram],
  ];
  const programs = [...PROGRAMS, ...others].filter(([name]) => !/^(scripting|function)$/.test(name));
  for (const [name, program] of programs) {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      it(`leaves none of its writes: ${name} (seed ${seed})`, () => {
        const stand = new Stand(seed);
        // Every other time it runs in slices.
        stand.mayPause = seed % 2 === 0;
        const dice = new Dice(seed);
        const shapes = program(dice, 8);
        const command = (): readonly string[] => {
          if (dice.chance(0.01)) return ['FLUSHALL'];
          const words = dice.pick(shapes)();
          return dice.chance(0.1) ? ['PEXPIRE', words[1] ?? 'k', String(1 + dice.below(5_000))] : words;
        };
        for (let round = 0; round < ROUNDS; round += 1) {
          for (let i = dice.below(MAX_CALLS); i > 0; i -= 1) stand.run(command());
          stand.nowMs += dice.below(1_000);
          const before = stand.look();
          const calls = 1 + dice.below(MAX_CALLS);
          const commands = Array.from({ length: calls }, command);
          expect(stand.stopped(commands, 1 + dice.below(calls))).to.match(/^-ERR Script stopped: it took longer/);
          expect(stand.look()).to.deep.equal(before);
          if (round % 5 === 0) stand.expectSound();
        }
        for (let i = 0; i < 100; i += 1) stand.run(command());
        stand.expectSound();
        if (stand.mayPause) expect(stand.pauses).to.be.above(2 * ROUNDS);
      });
    }
  }

  it('leaves large values that it changed as they were', () => {
    const stand = new Stand(1);
    const members = Array.from({ length: 1_000 }, (_, i) => `m${i}`);
    for (let i = 0; i < 8; i += 1) {
      const own = members.map((member) => `${member}-${i}`);
      stand.run(['SADD', 'set', ...own]);
      stand.run(['RPUSH', 'list', ...own]);
      stand.run(['HSET', 'hash', ...own.flatMap((member) => [member, member])]);
      stand.run(['ZADD', 'zset', ...own.flatMap((member) => [String(i), member])]);
    }
    const { bytes } = stand.engine.keyspace;
    const commands = [
      'SREM set m1-1',
      'LPUSH list x',
      'HSET hash m1-1 x',
      'ZADD zset 9 m1-1',
      'DEL set',
      'RENAME zset z2',
    ];
    stand.stopped(
      commands.map((line) => line.split(' ')),
      commands.length,
    );
    expect(stand.engine.keyspace.bytes).to.equal(bytes);
    stand.expectSound();
  });

  it('that trimmed a stream leaves it such that XTRIM MINID removes only the entries below the id', () => {
    const stand = new Stand(1);
    for (let i = 1; i <= 200; i += 1) stand.run(['XADD', 'events', `${i}-0`, 'f', 'v']);
    stand.stopped([['XTRIM', 'events', 'MAXLEN', '=', '100']], 1);
    expect(stand.run(['XLEN', 'events'])).to.equal(200);
    expect(stand.run(['XTRIM', 'events', 'MINID', '=', '150'])).to.equal(149);
    expect(stand.run(['XLEN', 'events'])).to.equal(51);
    stand.expectSound();
  });

  it('is not undone when it changed too much: the engine reports that, and the state must be rebuilt', () => {
    const stand = new Stand(1);
    const script =
      'for i=1,44 do local t={} for j=1,6000 do t[j]=i*6000+j end redis.call("sadd","k",unpack(t)) end while true do end';
    stand.callsLeft = 44;
    expect(() => stand.engine.execute(findCommand(['EVAL']) as never, ['EVAL', script, '0'], NOW)).to.throw(
      StateInDoubt,
      /Script stopped/,
    );
  });

  it('has published no message', () => {
    const said: string[] = [];
    let held = 0;
    const audience: Audience = {
      ...NO_AUDIENCE,
      publish: (channel) => said.push(channel),
      hold: () => {
        held = said.length;
      },
      unsay: () => void said.splice(held),
    };
    const engine = new KvEngine(seededRandom(1), { ...SERVER, nowMicros: processorMicros }, audience);
    const run = (script: string) => engine.execute(findCommand(['EVAL']) as never, ['EVAL', script, '0'], NOW);
    run("redis.call('publish','first','1')");
    run("redis.call('publish','second','1') while true do end");
    expect(said).to.deep.equal(['first']);
  });
});
