/** Proves LUM4, RU1, RU3. */
import { expect } from 'chai';
import type { KvPlane, KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import {
  type CommandSpec,
  digestOf,
  findCommand,
  KvEngine,
  type Paused,
  type Reply,
} from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { seededRandom } from '../../support/kv-bench.js';
import { KvShardStand, LIMITS, type Outcome } from '../../support/kv-shard-stand.js';

const OTHER = 'db-bbbbbbbbbbbbbbbb' as DatabaseId;
const CLIENT = { face: 'resp', protocol: 2, id: 'edge:1', address: '127.0.0.1:1', user: 'default' } as const;

/** Writes, works for some fifty milliseconds, and writes again. */
const LONG =
  "redis.call('set','first','1') redis.call('publish','news','script') for i=1,10000000 do end redis.call('set','second','2') return 'ready'";
const ENDLESS = "redis.call('set','half','1') while true do end";
/** A callback of `table.sort` cannot be interrupted. */
const HELD = `table.sort({1,2}, function() ${ENDLESS} end)`;

const LONG_ARGUMENT = 8 * 1024 * 1024;

/** The characters at both ends and at the border of two slices differ from the rest. */
function givenLongArgument() {
  const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
  const half = 'm'.repeat(LONG_ARGUMENT / 2 - 2);
  const script = `return {#ARGV[1], string.find(ARGV[1], 'SE', 1, true) == ${LONG_ARGUMENT / 2} and 1 or 0, ARGV[1]:sub(1, 1), ARGV[1]:sub(-1)}`;
  return { engine, words: ['EVAL', script, '0', `a${half}SE${half}z`], caller: { mayPause: true } };
}

describe('a long script', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    // Far more than a script takes here that is to come to its end.
    stand.scriptLimits = { ...stand.scriptLimits, totalMs: 60_000 };
    // The clock moves by a millisecond at each look, as if that had been work.
    let elapsedMs = stand.time.monotonicMs();
    stand.time.monotonicMs = () => (elapsedMs += 1);
    actor = await stand.serving();
    // Starts the Lua machine, so that only the script is measured.
    await answered(evaluate('return 1'));
  });

  const evaluate = (script: string): Outcome => stand.ask(actor, { commands: [['EVAL', script, '0']] });
  const ofAnother = (...words: string[]): Outcome =>
    stand.ask(actor, { database: OTHER, partition: `kv:${OTHER}:0` as PartitionName, commands: [words] });
  const answered = (outcome: Outcome): Promise<unknown> =>
    eventually(
      async () => {
        await stand.settle();
        expect(outcome.replies ?? outcome.failure).not.to.equal(undefined);
      },
      { everyMs: 0 },
    );

  it('lets another database of its shard write and store while it runs', async () => {
    const script = evaluate(LONG);
    await stand.settle();
    const write = ofAnother('SET', 'k', 'v');
    await answered(write);
    expect(script.replies).to.equal(undefined);
    expect(write.replies?.[0]).to.have.property('text', 'OK');
    await answered(script);
    expect(script.replies).to.deep.equal(['ready']);
  });

  it('lets others write during a long command that it calls, and can be stopped there', async () => {
    const members = Array.from({ length: 12_000 }, (_, i) => `m${i}`);
    await answered(stand.ask(actor, { commands: [['SADD', 's', ...members]] }));
    const calling = "redis.call('set','half','1') return redis.call('zunionstore','d',1,'s')";
    const script = evaluate(calling);
    await stand.settle();
    const read = stand.send(actor, 'EXISTS half d');
    await answered(ofAnother('SET', 'k', 'v'));
    expect([script.replies, read.replies]).to.deep.equal([undefined, undefined]);
    await answered(script);
    expect(script.replies).to.deep.equal([members.length]);
    await answered(read);
    expect(read.replies).to.deep.equal([2]);
    await answered(stand.send(actor, 'DEL half d'));
    const killed = evaluate(calling);
    await stand.settle();
    await answered(stand.ask(actor, { commands: [['SCRIPT', 'KILL']] }));
    await answered(killed);
    expect(killed.replies?.[0])
      .to.have.property('text')
      .that.matches(/^ERR Script stopped: it was killed/);
    const after = stand.send(actor, 'EXISTS half d');
    await answered(after);
    expect(after.replies).to.deep.equal([0]);
  });

  it('can be interrupted where few instructions do a lot of work', () => {
    let nowMicros = 0;
    const engine = new KvEngine(seededRandom(1), { nowMicros: () => (nowMicros += 6000), info: () => new Map() });
    const caller = { mayPause: true };
    const words = ['EVAL', "local s=string.rep('x',1024) for i=1,13 do s=s..s end return #s", '0'];
    const first = engine.execute(findCommand(words) as CommandSpec, words, 1, caller);
    const rest = engine.rest(first as Paused, words, caller);
    let reply: Reply | undefined;
    let slices = 1;
    for (; reply === undefined; slices += 1) reply = rest.next(1);
    expect(reply).to.equal(2 ** 23);
    expect(slices).to.be.greaterThan(2);
  });

  it('receives an argument of several megabytes in slices', () => {
    const { engine, words, caller } = givenLongArgument();
    const rest = engine.rest(
      engine.execute(findCommand(words) as CommandSpec, words, 1, caller) as Paused,
      words,
      caller,
    );
    let reply: Reply | undefined;
    let slices = 0;
    for (; reply === undefined; slices += 1) reply = rest.next(1);
    expect(reply).to.deep.equal([LONG_ARGUMENT, 1, 'a', 'z']);
    expect(slices, 'half a megabyte each').to.be.at.least(LONG_ARGUMENT / (512 * 1024));
  });

  it('is stored whole in one entry, with entries of other databases before it', async () => {
    stand.send(actor, 'SET before 1');
    const script = evaluate(LONG);
    await answered(ofAnother('SET', 'k', '1'));
    expect(script.replies).to.equal(undefined);
    await answered(ofAnother('SET', 'k', '2'));
    await answered(script);
    await answered(stand.send(actor, 'SET after 1'));
    const live = digestsOf(stand.planes[0] as KvPlane);
    const successor = await stand.serving();
    await answered(stand.ask(successor, { commands: [['GET', 'first']] }));
    expect(digestsOf(stand.planes[1] as KvPlane)).to.deep.equal(live);
  });

  it('shows none of its writes to readers before its entry is stored', async () => {
    const script = evaluate(LONG);
    await stand.settle();
    const read = stand.send(actor, 'MGET first second');
    await answered(ofAnother('SET', 'k', 'v'));
    expect(read.replies).to.equal(undefined);
    stand.journal.isOpen = false;
    await eventually(async () => {
      await stand.settle();
      expect(stand.journal.held).to.have.length(1);
    });
    expect([script.replies, read.replies]).to.deep.equal([undefined, undefined]);
    stand.journal.isOpen = true;
    await stand.journal.held[0]?.ack();
    await answered(read);
    expect(read.replies).to.deep.equal([['1', '2']]);
  });

  it('delivers its messages to subscribers when it ends, not before', async () => {
    const edge = 'edge-1' as never;
    stand.ask(actor, { mode: 'listen', listen: { edge, isWhole: true, counts: [['channel', 'news', 1]] } });
    await stand.settle();
    const script = evaluate(LONG);
    await answered(ofAnother('SET', 'k', 'v'));
    expect(stand.deliveries).to.deep.equal([]);
    await answered(script);
    expect(stand.deliveries.flatMap(({ events }) => events)).to.deep.equal([
      { type: 'message', channel: 'news', payload: 'script' },
    ]);
  });

  it('is stopped at its time limit, and its writes are undone', async () => {
    stand.scriptLimits = { ...stand.scriptLimits, totalMs: 200 };
    actor = await stand.serving();
    const script = evaluate(ENDLESS);
    const after = stand.send(actor, 'EXISTS half');
    await answered(after);
    expect(script.replies?.[0])
      .to.have.property('text')
      .that.matches(/^ERR Script stopped: it took longer than 200 ms/);
    expect(after.replies).to.deep.equal([0]);
  });

  it('lets others write also within nested pcalls, and is stopped there at the same limit', async () => {
    const nested = `local function f(n) if n > 0 then return pcall(f, n - 1) end ${LONG} end return {f(20)}`;
    const script = evaluate(nested);
    await stand.settle();
    await answered(ofAnother('SET', 'k', 'v'));
    expect(script.replies).to.equal(undefined);
    await answered(script);
    expect(script.replies).to.deep.equal([[...Array(20).fill(1), 'ready']]);
    stand.scriptLimits = { ...stand.scriptLimits, totalMs: 200 };
    actor = await stand.serving();
    const endless = evaluate(`while true do pcall(function() ${ENDLESS} end) end`);
    await answered(endless);
    expect(endless.replies?.[0])
      .to.have.property('text')
      .that.matches(/^ERR Script stopped: it took longer than 200 ms script/);
  });

  it('is stopped earlier where it cannot be interrupted', async () => {
    const script = evaluate(HELD);
    await answered(script);
    expect(script.replies?.[0])
      .to.have.property('text')
      .that.matches(/^ERR Script stopped: it took longer than 100 ms where it cannot be interrupted/);
  });

  it('has a smaller limit for uninterruptible work once it was reached, until time has passed, and the error says so', async () => {
    await answered(evaluate(HELD));
    const again = evaluate(HELD);
    await answered(again);
    expect(again.replies?.[0])
      .to.have.property('text')
      .that.matches(/^ERR Script stopped: it took longer than [5-9] ms where it cannot be interrupted/);
    const innocent = evaluate(LONG);
    await answered(innocent);
    expect(innocent.replies).to.deep.equal(['ready']);
  });

  for (const words of [
    ['SCRIPT', 'KILL'],
    ['function', 'kill'],
  ]) {
    it(`is stopped by ${words.join(' ')}, which is answered immediately, and its writes are undone`, async () => {
      const script = evaluate(ENDLESS);
      const after = stand.send(actor, 'EXISTS half');
      await stand.settle();
      const kill = stand.ask(actor, { commands: [words] });
      await stand.settle();
      expect(kill.replies).to.have.length(1);
      expect(kill.replies?.[0]).to.have.property('text', 'OK');
      await answered(after);
      expect(script.replies?.[0])
        .to.have.property('text')
        .that.matches(/^ERR Script stopped: it was killed script: [0-9a-f]{40}$/);
      expect(after.replies).to.deep.equal([0]);
      const another = stand.ask(actor, { commands: [words] });
      await answered(another);
      expect(another.replies?.[0])
        .to.have.property('text')
        .that.matches(/^NOTBUSY/);
    });
  }

  it('holds up later requests of its database for at most the hold time; those are refused', async () => {
    const holdMs = 50;
    actor = await stand.serving({}, { ...LIMITS, holdMs });
    const script = evaluate(ENDLESS);
    const behind = ['SET half 2', 'GET half'].map((line) => stand.send(actor, line));
    await stand.settle();
    expect(behind.map(({ failure }) => failure)).to.deep.equal([undefined, undefined]);
    await eventually(async () => {
      await stand.time.advance(holdMs / 10);
      expect(behind.map(({ failure }) => failure)).to.deep.equal(['TENANT_BUSY', 'TENANT_BUSY']);
    });
    await answered(ofAnother('SET', 'k', 'v'));
    const late = stand.send(actor, 'EXISTS half');
    stand.ask(actor, { commands: [['SCRIPT', 'KILL']] });
    await answered(late);
    expect([script.replies?.length, late.replies]).to.deep.equal([1, [0]]);
  });

  it('is stopped when its client is gone', async () => {
    let isGone = false;
    const script = stand.ask(actor, { client: CLIENT, commands: [['EVAL', ENDLESS, '0']], isGone: () => isGone });
    const after = stand.send(actor, 'EXISTS half');
    await stand.settle();
    expect(script.replies).to.equal(undefined);
    isGone = true;
    await answered(after);
    expect(after.replies).to.deep.equal([0]);
    expect(script.replies?.[0])
      .to.have.property('text')
      .that.matches(/it was killed/);
  });

  describe('a script with very many arguments', () => {
    const MANY = 20_000;
    const given = Array.from({ length: MANY }, (_, i) => `w${i}`);
    const KEYS = MANY - 7;
    const told = [KEYS, 'w0', `w${KEYS - 1}`, 7, `w${KEYS}`, `w${MANY - 1}`];
    const library = (body: string) => `#!lua name=l\nredis.register_function('f', function(keys, args) ${body} end)`;
    const tell = (keys: string, args: string) =>
      `return {#${keys}, ${keys}[1], ${keys}[#${keys}], #${args}, ${args}[1], ${args}[#${args}]}`;

    async function servedMeanwhile(script: Outcome): Promise<number> {
      for (let served = 0; ; served += 1) {
        await answered(ofAnother('SET', 'k', 'v'));
        if (script.replies !== undefined) return served;
      }
    }

    it('lets others write before it starts, and receives all arguments', async () => {
      const words = ['EVAL', tell('KEYS', 'ARGV'), String(KEYS), ...given];
      const script = stand.ask(actor, { commands: [words] });
      expect(await servedMeanwhile(script)).to.be.greaterThan(5);
      expect(script.replies).to.deep.equal([told]);
      const next = stand.ask(actor, { commands: [['EVAL', 'return {#KEYS, #ARGV}', '0', 'one']] });
      await answered(next);
      expect(next.replies).to.deep.equal([[0, 1]]);
    });

    it('lets others write as a function, too', async () => {
      await answered(stand.ask(actor, { commands: [['FUNCTION', 'LOAD', library(tell('keys', 'args'))]] }));
      const script = stand.ask(actor, { commands: [['FCALL', 'f', String(KEYS), ...given]] });
      expect(await servedMeanwhile(script)).to.be.greaterThan(5);
      expect(script.replies).to.deep.equal([told]);
    });

    it('lets others write when its arguments are few but long', async () => {
      const long = Array.from({ length: 20 }, () => 'x'.repeat(128 * 1024));
      const script = stand.ask(actor, { commands: [['EVAL', 'return #ARGV[20]', '0', ...long]] });
      expect(await servedMeanwhile(script)).to.be.greaterThan(5);
      expect(script.replies).to.deep.equal([128 * 1024]);
    });

    it('lets others write in a transaction, too', async () => {
      const commands = [
        ['SET', 'kept', '1'],
        ['EVAL', 'return #ARGV', '0', ...given],
      ];
      const script = stand.ask(actor, { client: CLIENT, mode: 'transaction', commands });
      expect(await servedMeanwhile(script)).to.be.greaterThan(5);
      expect(script.replies?.[1]).to.equal(MANY);
    });

    it('is stopped by SCRIPT KILL before it has started, and the next command runs', async () => {
      const script = stand.ask(actor, { commands: [['EVAL', "return redis.call('set','half','1')", '0', ...given]] });
      await answered(ofAnother('SET', 'k', 'v'));
      expect(script.replies).to.equal(undefined);
      await answered(stand.ask(actor, { commands: [['SCRIPT', 'KILL']] }));
      await answered(script);
      expect(script.replies?.[0])
        .to.have.property('text')
        .that.matches(/^ERR Script stopped: it was killed/);
      const next = evaluate("return {redis.call('exists','half'), #ARGV}");
      await answered(next);
      expect(next.replies).to.deep.equal([[0, 0]]);
    });
  });

  describe('a long script in a transaction', () => {
    const transaction = (script: string): Outcome =>
      stand.ask(actor, {
        client: CLIENT,
        mode: 'transaction',
        commands: [
          ['SET', 'kept', '1'],
          ['EVAL', script, '0'],
        ],
      });

    it('lets others write while it runs, and the transaction is one entry', async () => {
      const outcome = transaction(LONG);
      await stand.settle();
      await answered(ofAnother('SET', 'k', 'v'));
      expect(outcome.replies).to.equal(undefined);
      await answered(outcome);
      expect(outcome.replies?.[1]).to.equal('ready');
    });

    it('is stopped by SCRIPT KILL, and the whole transaction is undone', async () => {
      const outcome = transaction(ENDLESS);
      const after = stand.send(actor, 'MGET kept half');
      await stand.settle();
      stand.ask(actor, { commands: [['SCRIPT', 'KILL']] });
      await answered(after);
      expect(outcome.replies?.[1])
        .to.have.property('text')
        .that.matches(/^ERR Script stopped: it was killed/);
      expect(after.replies).to.deep.equal([[null, null]]);
    });
  });
});

function digestsOf(plane: KvPlane): Record<string, string> {
  return Object.fromEntries([...plane.loaded()].map(([name, { engine }]) => [name, digestOf(engine)]));
}
