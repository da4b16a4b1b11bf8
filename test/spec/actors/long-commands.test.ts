/** Proves CR3–CR6, PS3, SA8. */
import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { ERRORS, ErrorReply, findCommand, KvEngine, MapReply, OK, type Reply } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName, SessionId } from '../../../src/kernel/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const OTHER = {
  database: 'db-bbbbbbbbbbbbbbbb' as DatabaseId,
  partition: 'kv:db-bbbbbbbbbbbbbbbb:0' as PartitionName,
};
/** Each look at the clock is later by this many milliseconds, as if the work between two looks had taken them. */
const STEP_MS = 1;

const words = (name: string, count: number, word: (i: number) => string) => [
  ...name.split(' '),
  ...Array.from({ length: count }, (_, i) => word(i)),
];
/** About ten slices. */
const LONG_MSET = words('MSET', 10_000, (i) => (i % 2 === 0 ? `k${i}` : 'v'));

describe('a command that runs in slices', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    let elapsedMs = stand.time.monotonicMs();
    stand.time.monotonicMs = () => (elapsedMs += STEP_MS);
  });

  afterEach(() => {
    for (const each of stand.actors) each.fail(new Error('the test is over'));
  });

  function ask(parts: Partial<KvRequest>, to = actor): Outcome {
    return stand.ask(to, parts);
  }

  async function done(outcome: Outcome): Promise<readonly Reply[]> {
    while (outcome.replies === undefined && outcome.failure === undefined) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return outcome.replies ?? [];
  }

  async function sizes(successor: ShardActor<KvWork>): Promise<Reply[]> {
    const own = await done(ask({ commands: [['DBSIZE']] }, successor));
    const others = await done(ask({ ...OTHER, commands: [['DBSIZE']] }, successor));
    return [...own, ...others];
  }

  it('lets writes of another tenant be stored and answered in between, in entries of their own', async () => {
    const before = ask({ commands: [['SET', 'before', '1']] });
    const long = ask({ commands: [LONG_MSET] });
    const short = ask({ ...OTHER, commands: [['SET', 'a', '1']] });
    expect(await done(short)).to.deep.equal([OK]);
    expect(await done(before)).to.deep.equal([OK]);
    expect(long).to.deep.equal({});
    // The owner dies now: no part of the unfinished command is stored.
    expect(await sizes(await stand.serving())).to.deep.equal([1, 1]);
  });

  it('is stored as a whole at its end, after the writes of others in between', async () => {
    const long = ask({ commands: [LONG_MSET] });
    for (let i = 0; i < 5; i += 1) await done(ask({ ...OTHER, commands: [['SET', `a${i}`, '1']] }));
    expect(long).to.deep.equal({});
    expect(await done(long)).to.deep.equal([OK]);
    expect(await sizes(await stand.serving())).to.deep.equal([5_000, 5]);
  });

  it('is seen by its own database either completely or not at all', async () => {
    const long = ask({ commands: [LONG_MSET] });
    const after = ask({ commands: [['DBSIZE']] });
    expect(await done(after)).to.deep.equal([5_000]);
    expect(long.replies).to.deep.equal([OK]);
  });

  it('sends its keyspace events when it is stored, not with the entries of others', async () => {
    const listen = { edge: 's1' as SessionId, isWhole: true, counts: [['pattern', '__key*', 1]] as const };
    ask({ mode: 'listen', listen });
    await done(ask({ commands: [['CONFIG', 'SET', 'notify-keyspace-events', 'KEA']] }));
    const told = () => stand.deliveries.flatMap(({ events }) => events).length;
    const before = ask({ commands: [['SET', 'before', '1']] });
    const long = ask({ commands: [LONG_MSET] });
    await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
    await done(before);
    expect([told(), long]).to.deep.equal([2, {}]);
    await done(long);
    expect(told()).to.equal(2 + 10_000);
  });

  it('is refused in a full database, like a short command', async () => {
    await done(
      ask({
        commands: [
          ['SET', 'there', 'x'],
          ['CONFIG', 'SET', 'maxmemory', '1'],
        ],
        mode: 'pipeline',
      }),
    );
    const [reply] = await done(ask({ commands: [LONG_MSET] }));
    expect(reply).to.equal(ERRORS.databaseFull);
  });

  it('completes even if the disk fills up while it runs', async () => {
    const long = ask({ commands: [LONG_MSET] });
    await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
    expect(long).to.deep.equal({});
    stand.storage.full = true;
    expect(await done(long)).to.deep.equal([OK]);
  });

  it('takes no more of the event loop than other requests, even when many long commands run', async () => {
    const floods = Array.from({ length: 8 }, () => ask({ commands: [LONG_MSET] }));
    let served = 0;
    while (floods.some((flood) => flood.replies === undefined)) {
      await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
      served += 1;
    }
    // Each command has about ten slices, and the other tenant is served after each of them.
    expect(served).to.be.greaterThan(8 * 5);
  });

  describe('a long command after its client has left', () => {
    let isGone = false;
    const keys = words('SINTER', 1000, () => 'set');

    beforeEach(async () => {
      isGone = false;
      await done(ask({ commands: [['SADD', 'set', ...words('', 5000, (i) => `m${i}`).slice(1)]] }));
      await done(ask({ commands: [['EXISTS', 'set']] }));
    });

    it('stops', async () => {
      const long = ask({ commands: [keys], isGone: () => isGone });
      const next = ask({ commands: [['SCARD', 'set']] });
      await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
      expect([long, next]).to.deep.equal([{}, {}]);
      isGone = true;
      expect(await done(next)).to.deep.equal([5000]);
      expect(await done(long)).to.deep.equal([new ErrorReply('ERR command stopped: it was killed')]);
    });

    it('is undone when it writes, and later writes of its pipeline are executed', async () => {
      const commands = [LONG_MSET, ['SET', 'behind', '1']];
      const long = ask({ mode: 'pipeline', commands, isGone: () => isGone });
      await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
      expect(long).to.deep.equal({});
      isGone = true;
      expect(await done(ask({ commands: [['DBSIZE']] }))).to.deep.equal([2]);
      expect(await sizes(await stand.serving())).to.deep.equal([2, 1]);
    });

    it('is undone together with its transaction', async () => {
      const commands = [['SET', 'first', '1'], LONG_MSET, ['SET', 'behind', '1']];
      const long = ask({ mode: 'transaction', commands, isGone: () => isGone });
      await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
      expect(long).to.deep.equal({});
      isGone = true;
      expect(await done(ask({ commands: [['DBSIZE']] }))).to.deep.equal([1]);
    });

    it('is not started, and neither are later reads of its pipeline', async () => {
      isGone = true;
      const pipeline = ask({ mode: 'pipeline', commands: [keys, ['SCARD', 'set']], isGone: () => isGone });
      const replies = await done(pipeline);
      expect(replies.map((reply) => reply instanceof ErrorReply)).to.deep.equal([true, true]);
    });
  });

  describe('a long command at its time limit', () => {
    /** A command with some fifty milliseconds of work, in slices. */
    const keys = words('ZUNIONSTORE', 2002, (i) => (i === 0 ? 'dest' : i === 1 ? '2000' : 'set'));

    beforeEach(async () => {
      stand.commandMs = 10;
      actor = await stand.serving();
      let elapsedMs = stand.time.monotonicMs();
      stand.time.monotonicMs = () => (elapsedMs += STEP_MS);
      await done(ask({ commands: [['SADD', 'set', ...words('', 1000, (i) => `m${i}`).slice(1)]] }));
    });

    const STOPPED = new ErrorReply('ERR command stopped: it took longer than 10 ms');

    it('is stopped, and its changes are undone', async () => {
      const long = ask({ commands: [keys] });
      const next = ask({ commands: [['EXISTS', 'dest']] });
      expect(await done(long)).to.deep.equal([STOPPED]);
      expect(await done(next)).to.deep.equal([0]);
      expect(await sizes(await stand.serving())).to.deep.equal([1, 0]);
    });

    it('is the only command of its pipeline that is stopped', async () => {
      const commands = [['SET', 'before', '1'], keys, ['SET', 'behind', '1']];
      expect(await done(ask({ mode: 'pipeline', commands }))).to.deep.equal([OK, STOPPED, OK]);
    });

    it('is stopped, and its whole transaction is undone', async () => {
      const commands = [['SET', 'before', '1'], keys, ['SET', 'behind', '1']];
      const undone = new ErrorReply('ERR the transaction was undone: a command in it was stopped');
      expect(await done(ask({ mode: 'transaction', commands }))).to.deep.equal([undone, STOPPED, undone]);
      expect(await done(ask({ commands: [['DBSIZE']] }))).to.deep.equal([1]);
      expect(await sizes(await stand.serving())).to.deep.equal([1, 0]);
    });

    it('is stopped as a transaction of very many short commands, including CONFIG SET and FUNCTION LOAD', async () => {
      const parameter = ['CONFIG', 'SET', 'slowlog-max-len', '7'];
      const library = ['FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function() return 1 end)"];
      const many = Array.from({ length: 50_000 }, (_, i) => ['LPUSH', 'list', `v${i}`]);
      const replies = await done(ask({ mode: 'transaction', commands: [parameter, library, ...many] }));
      expect(replies.filter((reply) => reply instanceof ErrorReply && reply.text === STOPPED.text)).to.have.length(1);
      // Changes other than those of keys cannot be undone, so the partition is built again.
      const seen = ask({
        mode: 'pipeline',
        commands: [['DBSIZE'], ['CONFIG', 'GET', parameter[2] as string], ['FUNCTION', 'LIST']],
      });
      await eventually(async () => {
        await stand.time.advance(10);
        expect(seen.replies).to.deep.equal([1, new MapReply(['slowlog-max-len', '128']), []]);
      });
    });

    it('is stopped earlier where CONFIG SET gives a shorter limit, and never later', async () => {
      for (const [given, ms] of [
        ['5', 5],
        ['60000', 10],
      ] as const) {
        await done(ask({ commands: [['CONFIG', 'SET', 'busy-reply-threshold', given]] }));
        const text = `ERR command stopped: it took longer than ${ms} ms`;
        expect(await done(ask({ commands: [keys] }))).to.deep.equal([new ErrorReply(text)]);
      }
    });
  });

  describe('a long transaction', () => {
    const parts = [['SET', 'first', '1'], LONG_MSET, ['DBSIZE'], ['INCR', 'first']];

    it('with a long command lets other tenants run, and is one entry', async () => {
      const long = ask({ mode: 'transaction', commands: parts });
      expect(await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }))).to.deep.equal([OK]);
      expect(long).to.deep.equal({});
      expect(await sizes(await stand.serving())).to.deep.equal([0, 1]);
    });

    it('with a long command gives the same replies as without slices', async () => {
      const long = ask({ mode: 'transaction', commands: parts });
      await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
      expect(await done(long)).to.deep.equal([OK, OK, 5_001, 2]);
      expect(await sizes(await stand.serving())).to.deep.equal([5_001, 1]);
    });

    it('of very many short commands lets other tenants run, too', async () => {
      const commands = Array.from({ length: 5000 }, (_, i) => ['SET', `k${i}`, 'v']);
      const long = ask({ mode: 'transaction', commands });
      expect(await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }))).to.deep.equal([OK]);
      expect(long).to.deep.equal({});
      expect(await done(long)).to.have.length(5000);
    });

    it('is undone when one of its commands is stopped', async () => {
      // It changes more data than the undo log of a script may hold.
      const changes = "local s=string.rep('x',2^23) for i=1,10 do redis.call('hset','half','f',s) end";
      const endless = ['EVAL', `${changes} while true do (function() end)() end`, '0'];
      await done(ask({ commands: [['SET', 'kept', '1']] }));
      const long = ask({ mode: 'transaction', commands: [LONG_MSET, endless] });
      await done(ask({ ...OTHER, commands: [['SET', 'a', '1']] }));
      const replies = await done(long);
      expect((replies[0] as ErrorReply).text).to.include('the transaction was undone');
      expect((replies[1] as ErrorReply).text).to.match(/^ERR Script stopped/);
      expect(await done(ask({ commands: [['DBSIZE']] }))).to.deep.equal([1]);
    });
  });
});

/** The number of words, members, values or entries in each case. */
const ITEMS = 9_000;
/** Elements of the list, which are copied 8,192 at a time. */
const ELEMENTS = 20_000;
/** The most elements of one slice; a command that rebuilds a value has up to 4096 words. */
const ITEMS_A_SLICE = 4200;
const LONG_TEXT = 'a text '.repeat(75_000);
const LONG_TEXT_SLICES = LONG_TEXT.length / (128 * 1024);

type Words = readonly string[];
type Case = readonly [name: string, before: readonly Words[], words: Words, slices?: number];

const list = `[${Array.from({ length: ITEMS }, (_, i) => `{"n":${i}}`).join()}]`;
const filled: Readonly<Record<string, Words>> = {
  list: words('RPUSH list', ELEMENTS, (i) => `m${i}`),
  set: words('SADD set', ITEMS, (i) => `m${i}`),
  hash: words('HSET hash', 2 * ITEMS, (i) => `m${i}`),
  zset: words('ZADD zset', 2 * ITEMS, (i) => (i % 2 === 0 ? String(i) : `m${i}`)),
  json: ['JSON.SET', 'json', '$', list],
};
const entries: readonly Words[] = Array.from({ length: ITEMS }, (_, i) => ['XADD', 'stream', `1-${i + 1}`, 'f', 'v']);
const group = [...entries, ['XGROUP', 'CREATE', 'stream', 'g', '0']];
const handedOut = [...group, ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'stream', '>']];

const CASES: readonly Case[] = [
  ...['list', 'set', 'hash', 'zset', 'json'].flatMap((key): Case[] => [
    [`COPY of a ${key}`, [filled[key] as Words], ['COPY', key, 'copy']],
    [`DUMP of a ${key}`, [filled[key] as Words], ['DUMP', key]],
    [`RESTORE of a ${key}`, [filled[key] as Words], ['RESTORE', 'copy', '0', `DUMP ${key}`]],
  ]),
  ['DUMP of a text', [['SET', 'text', LONG_TEXT]], ['DUMP', 'text'], LONG_TEXT_SLICES],
  ['RESTORE of a text', [['SET', 'text', LONG_TEXT]], ['RESTORE', 'copy', '0', 'DUMP text'], LONG_TEXT_SLICES],
  ['COPY of a stream with many pending entries', handedOut, ['COPY', 'stream', 'copy']],
  ['DUMP of a stream with many pending entries', handedOut, ['DUMP', 'stream']],
  ['a push of many words', [], filled.list as Words],
  ['members added', [], filled.set as Words],
  ['values added to an array', [['JSON.SET', 'json', '$', '[]']], words('JSON.ARRAPPEND json $', ITEMS, String)],
  ['values taken out of an array', [filled.json as Words], ['JSON.DEL', 'json', '$[*]']],
  ['values cleared', [filled.json as Words], ['JSON.CLEAR', 'json', '$[*]']],
  ['numbers increased', [filled.json as Words], ['JSON.NUMINCRBY', 'json', '$[*].n', '1']],
  ['lengths of values', [filled.json as Words], ['JSON.OBJLEN', 'json', '$[*]']],
  ['XREADGROUP', group, ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'stream', '>']],
  ['XREADGROUP that may block', group, 'XREADGROUP GROUP g c BLOCK 0 STREAMS stream >'.split(' ')],
  ['a second XREADGROUP', handedOut, ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'stream', '0']],
  ['XPENDING', handedOut, ['XPENDING', 'stream', 'g', '-', '+', String(ITEMS)]],
  ['XAUTOCLAIM', handedOut, ['XAUTOCLAIM', 'stream', 'g', 'd', '0', '0', 'COUNT', String(ITEMS)]],
  ['XGROUP DELCONSUMER', handedOut, ['XGROUP', 'DELCONSUMER', 'stream', 'g', 'c']],
  ['XINFO STREAM FULL', handedOut, ['XINFO', 'STREAM', 'stream', 'FULL', 'COUNT', '0']],
];

describe('a command with much work runs in many slices', () => {
  const caller = { endpoint: 'resp', mayBlock: true } as const;
  const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };

  function run(engine: KvEngine, line: Words): { reply: unknown; slices: number } {
    const spec = findCommand(line);
    if (spec === undefined) throw new Error(`there is no ${line[0]}`);
    if (!engine.isLong(spec, line, 1, caller)) return { reply: engine.execute(spec, line, 1, caller), slices: 1 };
    const command = engine.begin(spec, line, caller);
    for (let slices = 1; ; slices += 1) {
      const reply = command.next(1);
      if (reply !== undefined) return { reply, slices };
    }
  }

  for (const [name, before, line, atLeast = ITEMS / ITEMS_A_SLICE] of CASES) {
    it(`as ${name}`, () => {
      const inSlices = new KvEngine(random, { nowMicros: () => 0, info: () => new Map() });
      const inOneGo = new KvEngine(random, { nowMicros: () => 0, info: () => new Map() });
      for (const engine of [inSlices, inOneGo]) for (const each of before) run(engine, each);
      const own = line.map((word) => (word.startsWith('DUMP ') ? String(run(inSlices, word.split(' ')).reply) : word));
      for (const engine of [inSlices, inOneGo]) engine.effects.take();
      const { reply, slices } = run(inSlices, own);
      expect(reply).to.not.be.instanceOf(ErrorReply);
      expect(slices).to.be.greaterThan(atLeast);
      const spec = findCommand(own);
      expect(spec && inOneGo.execute(spec, own, 1, caller)).to.deep.equal(reply);
      expect(inSlices.effects.take().equals(inOneGo.effects.take()), 'other effects').to.equal(true);
    });
  }
});
