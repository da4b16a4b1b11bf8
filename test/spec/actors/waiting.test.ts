/** Proves CR2, KH3, AUD1, AUD3, WC1, WC2, KE5, PAU2. */
import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { ERRORS, permissionsOf } from '../../../src/domain/kv/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { KvShardStand, LIMITS, type Outcome } from '../../support/kv-shard-stand.js';

const CLIENT = { face: 'resp', protocol: 2, id: 'edge:1', address: '127.0.0.1:1', user: 'default' } as const;

describe('commands that wait', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  let waiters = 0;

  beforeEach(async () => {
    waiters = 0;
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  /** A blocking command; its name is `w1`, `w2` … */
  function wait(line: string): Outcome {
    waiters += 1;
    return stand.ask(actor, { commands: [line.split(' ')], client: CLIENT, waiter: `w${waiters}` });
  }

  function ask(request: Partial<KvRequest>): Outcome {
    return stand.ask(actor, { client: CLIENT, ...request });
  }

  it('are served in the turn that made their key ready, in the order of arrival', async () => {
    const first = wait('BLPOP l 0');
    const second = wait('BLPOP l m 0');
    await stand.settle();
    expect([first, second]).to.deep.equal([{}, {}]);
    const push = stand.send(actor, 'RPUSH l a');
    await stand.settle();
    expect(push.replies).to.deep.equal([1]);
    expect(first.replies).to.deep.equal([['l', 'a']]);
    expect(second).to.deep.equal({});
    stand.send(actor, 'RPUSH m b');
    await stand.settle();
    expect(second.replies).to.deep.equal([['m', 'b']]);
    expect(stand.send(actor, 'EXISTS l m')).to.deep.equal({});
  });

  it('report a destination of the wrong type, and keep waiting while their own key has the wrong type', async () => {
    stand.send(actor, 'SET target x');
    const move = wait('BRPOPLPUSH l target 0');
    const pop = wait('BLPOP m 0');
    stand.send(actor, ['SET m x', 'RPUSH l a'], 'pipeline');
    await stand.settle();
    expect(move.replies?.[0]).to.equal(ERRORS.wrongType);
    expect(pop).to.deep.equal({});
    const left = stand.send(actor, 'LRANGE l 0 -1');
    await stand.settle();
    expect(left.replies).to.deep.equal([['a']]);
  });

  it('report NOGROUP when the group that they read is gone, although others wait for the same key', async () => {
    const pop = wait('BLPOP s 0');
    stand.send(actor, 'XGROUP CREATE s g $ MKSTREAM');
    const read = wait('XREADGROUP GROUP g c BLOCK 0 STREAMS s >');
    stand.send(actor, 'DEL s');
    await stand.settle();
    expect(read.replies?.[0])
      .to.have.property('text')
      .that.matches(/^NOGROUP /);
    expect(pop).to.deep.equal({});
  });

  it('are counted as calls when they end, and as blocked clients while they wait', async () => {
    stand.send(actor, 'XGROUP CREATE s g $ MKSTREAM');
    wait('BLPOP l 0');
    wait('BLPOP l 1');
    wait('XREADGROUP GROUP g c BLOCK 0 STREAMS s >');
    await stand.settle();
    const clients = stand.send(actor, 'INFO clients');
    await stand.settle();
    expect(String(clients.replies?.[0])).to.include(
      'blocked_clients:3\r\ntotal_blocking_keys:2\r\ntotal_blocking_keys_on_nokey:1\r\n',
    );
    stand.send(actor, 'RPUSH l a');
    await stand.time.advance(1500);
    const counts = stand.send(actor, 'INFO commandstats');
    await stand.settle();
    expect(String(counts.replies?.[0])).to.match(/cmdstat_blpop:calls=2,/);
  });

  it('are answered immediately when their key has an element', async () => {
    stand.send(actor, 'RPUSH l a');
    const outcome = wait('BLPOP l 0');
    await stand.settle();
    expect(outcome.replies).to.deep.equal([['l', 'a']]);
  });

  it('are journaled as the pop that they did, in the same entry as the push that served them', async () => {
    wait('BLPOP l 0');
    await stand.settle();
    const before = actor.head?.number;
    stand.send(actor, 'RPUSH l a b');
    await stand.settle();
    expect(actor.head?.number).to.equal((before ?? 0) + 1);
    const again = await stand.serving();
    const left = stand.send(again, 'LRANGE l 0 -1');
    await stand.settle();
    expect(left.replies).to.deep.equal([['b']]);
  });

  it('return null when their timeout is over', async () => {
    const outcome = wait('BLPOP l 1');
    await stand.settle();
    await stand.time.advance(900);
    expect(outcome).to.deep.equal({});
    await stand.time.advance(200);
    expect(outcome.replies).to.have.length(1);
    stand.send(actor, 'RPUSH l a');
    await stand.settle();
    const left = stand.send(actor, 'LLEN l');
    await stand.settle();
    expect(left.replies).to.deep.equal([1]);
  });

  it('can be unblocked with an answer or with an error', async () => {
    const [one, other] = [wait('BLPOP l 0'), wait('BLPOP l 0')];
    await stand.settle();
    const sent = ask({ mode: 'unblock', commands: [['w1', 'TIMEOUT']] });
    const failed = ask({ mode: 'unblock', commands: [['w2', 'ERROR']] });
    const nobody = ask({ mode: 'unblock', commands: [['w9', 'GONE']] });
    await stand.settle();
    expect([sent.replies, failed.replies, nobody.replies]).to.deep.equal([[1], [1], [0]]);
    expect(one.replies).to.have.length(1);
    expect(other.replies?.[0]).to.have.property('text', 'UNBLOCKED client unblocked via CLIENT UNBLOCK');
  });

  it('keep waiting when their key holds a value of another type', async () => {
    const outcome = wait('BLPOP l 0');
    await stand.settle();
    stand.send(actor, 'SET l text');
    await stand.settle();
    expect(outcome).to.deep.equal({});
    stand.send(actor, ['DEL l', 'RPUSH l a'], 'pipeline');
    await stand.settle();
    expect(outcome.replies).to.deep.equal([['l', 'a']]);
  });

  it('serve one another', async () => {
    const last = wait('BLPOP c 0');
    const second = wait('BLMOVE b c LEFT LEFT 0');
    const first = wait('BLMOVE a b LEFT LEFT 0');
    await stand.settle();
    stand.send(actor, 'RPUSH a x');
    await stand.settle();
    expect([first.replies, second.replies, last.replies]).to.deep.equal([['x'], ['x'], [['c', 'x']]]);
  });

  it('are served by a transaction after its last command', async () => {
    const outcome = wait('BLPOP l 0');
    await stand.settle();
    stand.send(actor, ['RPUSH l a', 'LPUSH l b'], 'transaction');
    await stand.settle();
    expect(outcome.replies).to.deep.equal([['l', 'b']]);
  });

  it('are reported as not executed when their owner ends', async () => {
    const outcome = wait('BLPOP l 0');
    await stand.settle();
    actor.fail(new Error('gone'));
    await stand.settle();
    expect(outcome.failure).to.equal('NOT_APPLIED');
  });
});

describe('watched keys', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  const ask = (request: Partial<KvRequest>) => stand.ask(actor, { client: CLIENT, ...request });

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  async function watch(...keys: string[]): Promise<{ keys: string[]; mark: string }> {
    const outcome = ask({ mode: 'watch', commands: [['WATCH', ...keys]] });
    await stand.settle();
    return { keys, mark: outcome.replies?.[0] as string };
  }

  async function exec(...watches: { keys: string[]; mark: string }[]): Promise<Outcome> {
    const outcome = ask({ mode: 'transaction', commands: [['SET', 'done', '1']], watches });
    await stand.settle();
    return outcome;
  }

  it('let a transaction run while they have not changed', async () => {
    stand.send(actor, 'SET a 1');
    const mark = await watch('a', 'b');
    stand.send(actor, 'SET other 1');
    const outcome = await exec(mark);
    expect(outcome.isAborted).to.equal(undefined);
    expect(outcome.replies).to.have.length(1);
  });

  for (const line of ['SET a 2', 'RPUSH b x', 'DEL a', 'EXPIRE a 100', 'FLUSHALL', 'RENAME a c']) {
    it(`abort a transaction after ${line}`, async () => {
      stand.send(actor, 'SET a 1');
      const mark = await watch('a', 'b');
      stand.send(actor, line);
      const outcome = await exec(mark);
      expect([outcome.isAborted, outcome.replies]).to.deep.equal([true, []]);
    });
  }

  it('abort a transaction when they have expired before EXEC', async () => {
    stand.send(actor, 'SET a 1 PX 50');
    await stand.settle();
    const mark = await watch('a');
    await stand.time.advance(60);
    expect((await exec(mark)).isAborted).to.equal(true);
  });

  it('abort a transaction that is sent to another owner', async () => {
    const mark = await watch('a');
    actor = await stand.serving();
    expect((await exec(mark)).isAborted).to.equal(true);
  });

  it('are not changed by a command without effect', async () => {
    stand.send(actor, 'SET a 1');
    const mark = await watch('a', 'none');
    stand.send(actor, ['DEL none', 'SETNX a 5', 'PERSIST a'], 'pipeline');
    expect((await exec(mark)).isAborted).to.equal(undefined);
  });
});

describe('registered listeners', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  const EDGE = 'edge-1' as never;
  const ask = (request: Partial<KvRequest>) => stand.ask(actor, { client: CLIENT, ...request });
  const listen = (...counts: [string, string, number][]) =>
    ask({ mode: 'listen', commands: [], listen: { edge: EDGE, isWhole: true, counts: counts as never } });
  const events = () => stand.deliveries.flatMap((delivery) => delivery.events);

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  it('receive published messages, and the publisher gets their number', async () => {
    listen(['channel', 'news', 2], ['pattern', 'n*', 1]);
    const outcome = stand.send(actor, 'PUBLISH news hello');
    await stand.settle();
    expect(outcome.replies).to.deep.equal([3]);
    expect(events()).to.deep.equal([
      { type: 'message', channel: 'news', payload: 'hello' },
      { type: 'pmessage', pattern: 'n*', channel: 'news', payload: 'hello' },
    ]);
  });

  it('receive a message once when its owner may no longer answer: the publisher gets OUTCOME_UNKNOWN', async () => {
    listen(['channel', 'news', 1]);
    await stand.settle();
    stand.mayAnswerReads = false;
    const outcome = stand.send(actor, 'PUBLISH news hello');
    await stand.settle();
    expect(outcome.failure).to.equal('OUTCOME_UNKNOWN');
    expect(events()).to.have.length(1);
  });

  for (const [loss, lose] of [
    ['falls silent', () => stand.time.advance(LIMITS.holdMs * 1.2)],
    [
      'finds that another process owns the shard',
      async () => stand.journal.held[0]?.answer({ kind: 'conflict', last: 99 }),
    ],
  ] as const) {
    it(`receive a message once, when its owner ${loss} as it confirms its ownership: it is not published again`, async () => {
      listen(['channel', 'news', 1]);
      await stand.settle();
      stand.mayAnswerReads = false;
      stand.journal.isOpen = false;
      const outcome = stand.send(actor, 'PUBLISH news hello');
      await stand.settle();
      await lose();
      await stand.settle();
      expect(outcome.failure).to.equal('OUTCOME_UNKNOWN');
      expect(events()).to.have.length(1);
    });
  }

  it('receive a message of a transaction after the entry of that transaction is stored', async () => {
    listen(['channel', 'news', 1]);
    await stand.settle();
    stand.journal.isOpen = false;
    stand.send(actor, ['SET a 1', 'PUBLISH news hello'], 'transaction');
    await stand.settle();
    expect(events()).to.deep.equal([]);
    await stand.journal.held[0]?.ack();
    await stand.settle();
    expect(events()).to.have.length(1);
  });

  it('must send all their registrations to an owner that does not know them', async () => {
    const first = listen(['channel', 'news', 1]);
    const renewed = ask({ mode: 'listen', commands: [], listen: { edge: EDGE, isWhole: false, counts: [] } });
    await stand.settle();
    expect([first.replies?.[1], renewed.replies?.[1]]).to.deep.equal([1, 1]);
    actor = await stand.serving();
    const unknown = ask({ mode: 'listen', commands: [], listen: { edge: EDGE, isWhole: false, counts: [] } });
    await stand.settle();
    expect(unknown.replies?.[1]).to.equal(0);
    expect(unknown.replies?.[0]).not.to.equal(first.replies?.[0]);
  });

  it('pause commands: until the pause ends, keys neither expire nor are evicted', async () => {
    stand.send(actor, ['SET short x PX 50', 'HSET h f v', 'HPEXPIRE h 50 FIELDS 1 f', 'SET long x'], 'pipeline');
    stand.send(
      actor,
      ['CONFIG SET maxmemory-policy allkeys-random', 'CONFIG SET notify-keyspace-events KEA'],
      'pipeline',
    );
    listen(['pause', '', 1], ['pause', 'held', 2], ['pattern', '__key*', 1]);
    await stand.settle();
    await stand.time.advance(1000);
    stand.send(actor, 'CONFIG SET maxmemory 1');
    const random = stand.send(actor, ['DEL long', 'SET long x PX 1', 'RANDOMKEY'], 'pipeline');
    await stand.settle();
    expect(random.replies?.[2]).to.be.oneOf(['short', 'h', 'long']);
    const seen = stand.send(actor, ['DBSIZE', 'GET short', 'SET more x', 'INFO clients', 'INFO stats'], 'pipeline');
    await stand.settle();
    expect(seen.replies?.slice(0, 2)).to.deep.equal([3, null]);
    expect(seen.replies?.[2]).to.have.property('text', 'OK');
    expect(JSON.stringify(seen.replies?.[3])).to.contain('blocked_clients:2');
    expect(JSON.stringify(seen.replies?.[4])).to.contain('expired_keys:0').and.to.contain('evicted_keys:0');
    listen(['pause', '', 0], ['pause', 'held', 0], ['pattern', '__key*', 1]);
    await stand.time.advance(1000);
    stand.send(actor, 'CONFIG SET maxmemory 0');
    const after = stand.send(actor, ['DBSIZE', 'INFO stats', 'INFO clients'], 'pipeline');
    await stand.settle();
    expect(after.replies?.[0]).to.equal(1);
    expect(JSON.stringify(after.replies?.[1]))
      .to.contain('expired_keys:2')
      .and.to.contain('expired_keys_active:2')
      .and.to.contain('expired_subkeys:1')
      .and.to.contain('expired_subkeys_active:1');
    expect(JSON.stringify(after.replies?.[2])).to.contain('blocked_clients:0');
  });

  it('receive the denied commands of scripts for ACL LOG, one by one', async () => {
    const rules = 'on\n+@all\n-incr\n~a*';
    const script = "redis.pcall('INCR', 'a'); redis.pcall('GET', 'b'); return redis.pcall('GET', 'a')";
    stand.permissionsOf = permissionsOf;
    const outcome = ask({
      mode: 'pipeline',
      client: { ...CLIENT, user: 'alice', rules },
      commands: [
        ['EVAL', script, '0'],
        ['GET', 'a'],
      ],
    });
    await stand.settle();
    expect(outcome.denials).to.deep.equal([
      { user: 'alice', reason: 'command', object: 'incr' },
      { user: 'alice', reason: 'key', object: 'b' },
    ]);
    const none = stand.send(actor, 'GET a');
    await stand.settle();
    expect(none.denials).to.equal(undefined);
  });

  it('can ask which scripts and functions have the flag no-writes', async () => {
    const reading = '#!lua flags=no-writes\nreturn 1';
    const library =
      "#!lua name=lib\nredis.register_function{function_name='reads',callback=function() end,flags={'no-writes'}}";
    ask({ commands: [['FUNCTION', 'LOAD', library]] });
    const loaded = ask({ commands: [['SCRIPT', 'LOAD', reading]] });
    await stand.settle();
    const answer = ask({
      mode: 'reads-only',
      commands: [
        ['EVAL', reading],
        ['EVAL', 'return 1'],
        ['EVALSHA', String(loaded.replies?.[0])],
        ['EVALSHA', 'f'.repeat(40)],
        ['FCALL', 'READS'],
        ['FCALL', 'none'],
        ['GET', 'a'],
      ],
    });
    await stand.settle();
    expect(answer.replies).to.deep.equal([1, 0, 1, 0, 1, 0, 0]);
  });

  it('see commands as they run, while they monitor', async () => {
    listen(['monitor', '', 1]);
    stand.send(actor, 'SET a "x"');
    await stand.settle();
    expect(events()[0])
      .to.have.property('line')
      .that.matches(/^\d+\.\d{6} \[0 0\.0\.0\.0:0\] "SET" "a" "\\"x\\""$/);
  });

  it('see the commands of scripts and the begin and end of transactions while they monitor', async () => {
    listen(['monitor', '', 1]);
    ask({ commands: [['EVAL', "return redis.call('set', 'a', '1')", '0']] });
    ask({ mode: 'transaction', commands: [['GET', 'a']] });
    ask({ mode: 'transaction', commands: [] });
    await stand.settle();
    const lines = events().map((event) => (event as { line: string }).line.replace(/^[^[]*/, ''));
    expect(lines).to.deep.equal([
      `[0 127.0.0.1:1] "EVAL" "return redis.call('set', 'a', '1')" "0"`,
      '[0 lua] "set" "a" "1"',
      '[0 127.0.0.1:1] "multi"',
      '[0 127.0.0.1:1] "GET" "a"',
      '[0 127.0.0.1:1] "exec"',
      '[0 127.0.0.1:1] "multi"',
      '[0 127.0.0.1:1] "exec"',
    ]);
  });

  it('receive one invalidation for a key that they have read', async () => {
    listen(['invalidation', '', 1]);
    ask({ commands: [['GET', 'a']], trackFor: EDGE });
    await stand.settle();
    stand.send(actor, ['SET a 1', 'SET a 2', 'SET b 1'], 'pipeline');
    await stand.settle();
    expect(events()).to.deep.equal([{ type: 'invalidate', keys: ['a'], by: undefined }]);
  });

  it('receive invalidations for the keys that a script has read, and no others', async () => {
    listen(['invalidation', '', 1]);
    const script = "redis.call('set', 'c', 1) return redis.call('get', 'a')";
    const outcome = ask({ commands: [['EVAL', script, '2', 'a', 'b']], trackFor: EDGE });
    await stand.settle();
    expect(outcome.scriptReads).to.deep.equal(['a']);
    stand.send(actor, ['SET b 1', 'SET c 2', 'SET a 1'], 'pipeline');
    await stand.settle();
    expect(events()).to.deep.equal([{ type: 'invalidate', keys: ['a'], by: undefined }]);
  });

  it('receive an invalidation for the oldest key when tracking-table-max-keys is exceeded', async () => {
    listen(['invalidation', '', 1]);
    stand.send(actor, 'CONFIG SET tracking-table-max-keys 1');
    ask({ commands: [['GET', 'a']], trackFor: EDGE });
    ask({ commands: [['GET', 'b']], trackFor: EDGE });
    await stand.settle();
    expect(events()).to.deep.equal([{ type: 'invalidate', keys: ['a'], by: undefined }]);
  });

  it('receive every change in broadcast mode', async () => {
    listen(['invalidation', '*', 1]);
    ask({ commands: [['SET', 'b', '1']] });
    stand.send(actor, 'FLUSHALL');
    await stand.settle();
    expect(events()).to.deep.equal([
      { type: 'invalidate', keys: ['b'], by: 'edge:1' },
      { type: 'invalidate', keys: null, by: undefined },
    ]);
  });

  it('receive invalidations for keys that a full table evicts, also from a successor', async () => {
    stand.send(actor, 'CONFIG SET tracking-table-max-keys 1');
    await stand.settle();
    actor = await stand.serving();
    listen(['invalidation', '', 1]);
    ask({ commands: [['GET', 'a']], trackFor: EDGE });
    ask({ commands: [['GET', 'b']], trackFor: EDGE });
    await stand.settle();
    expect(events()).to.deep.include({ type: 'invalidate', keys: ['a'], by: undefined });
  });

  it('are removed when their process was silent for too long', async () => {
    listen(['channel', 'news', 1]);
    stand.send(actor, 'SET a 1 PX 60000');
    await stand.settle();
    await stand.time.advance(16_000);
    const outcome = stand.send(actor, 'PUBLISH news hello');
    await stand.settle();
    expect(outcome.replies).to.deep.equal([0]);
  });

  it('receive the keyspace events that a database publishes', async () => {
    listen(['pattern', '__key*', 1]);
    stand.send(actor, ['CONFIG SET notify-keyspace-events KEA', 'SET a 1', 'DEL a'], 'pipeline');
    await stand.settle();
    expect(
      events().map((event) => `${(event as { channel: string }).channel} ${(event as { payload: string }).payload}`),
    ).to.deep.equal(['__keyspace@0__:a set', '__keyevent@0__:set a', '__keyspace@0__:a del', '__keyevent@0__:del a']);
  });
});

/** A script that writes and then never ends: it is stopped at its bound of time or of instructions. */
const stopped = "EVAL redis.call('set','half','1')redis.call('publish','news','x')while(true)do(function()end)()end 0";

const UNDONE = 'ERR the transaction was undone: a command in it was stopped';

/** A script takes real time, in slices. */
const answered = (stand: KvShardStand, outcome: Outcome): Promise<unknown> =>
  eventually(async () => {
    await stand.settle();
    expect(outcome.replies).not.to.equal(undefined);
  });

describe('a stopped script with earlier writes', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  it('is undone immediately: its partition continues with the state before it', async () => {
    stand.send(actor, ['SET kept 1', 'RPUSH list a b', 'SET half 0'], 'pipeline');
    await stand.settle();
    const outcome = stand.send(actor, ['INCR kept', stopped, 'GET kept', 'GET half', 'LRANGE list 0 -1'], 'pipeline');
    await answered(stand, outcome);
    const [counted, script, ...seen] = outcome.replies ?? [];
    expect(counted).to.equal(2);
    expect(script)
      .to.have.property('text')
      .that.matches(/^ERR Script stopped/);
    expect(seen).to.deep.equal(['2', '0', ['a', 'b']]);
  });

  it('undoes its transaction, and the other commands get an error', async () => {
    const outcome = stand.send(actor, ['SET first 1', stopped, 'SET last 1'], 'transaction');
    const after = stand.send(actor, 'MGET first half last');
    await answered(stand, after);
    const texts = outcome.replies?.map((reply) => (reply as { text: string }).text) ?? [];
    expect(texts[1]).to.match(/^ERR Script stopped/);
    expect([texts[0], texts[2]]).to.deep.equal(Array(2).fill(UNDONE));
    expect(after.replies).to.deep.equal([[null, null, null]]);
  });

  it('sends its listeners only an invalidation of all keys', async () => {
    const edge = 'edge-1' as never;
    const counts = [['channel', 'news', 1] as const, ['invalidation', '', 1] as const];
    stand.ask(actor, { mode: 'listen', listen: { edge, isWhole: true, counts } });
    stand.ask(actor, { client: CLIENT, commands: [['GET', 'half']], trackFor: edge });
    await stand.settle();
    stand.send(actor, stopped);
    await answered(stand, stand.send(actor, 'PUBLISH news y'));
    const events = stand.deliveries.flatMap((delivery) => delivery.events);
    expect(events.map((event) => (event.type === 'message' ? event.payload : event.type))).to.deep.equal([
      'invalidate',
      'y',
    ]);
  });

  it('serves no waiter with the elements that it pushed', async () => {
    const push = "EVAL redis.call('rpush','queue','1')while(true)do(function()end)()end 0";
    const waiter = stand.ask(actor, { client: CLIENT, waiter: 'w', commands: [['BLPOP', 'queue', '0']] });
    await stand.settle();
    await answered(stand, stand.send(actor, push));
    expect(waiter.replies).to.equal(undefined);
    stand.send(actor, 'RPUSH queue 2');
    await stand.settle();
    expect(waiter.replies).to.deep.equal([['queue', '2']]);
  });
});

describe('a partition in doubt', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    // The limit of memory must stop the script, on a busy machine too, so the limits of time are long.
    stand.scriptLimits = { totalMs: 10_000, holdMs: 100 };
    actor = await stand.serving();
  });

  /** A script that is stopped for its memory after it has changed more than can be undone. */
  const script =
    "local s,t=string.rep('x',2^23),{} for i=1,10 do redis.call('hset','half','f',s) end while true do t[#t+1]=s..#t end";
  const stopped = ['EVAL', script.replaceAll(' ', '\t'), '0'].join(' ');

  it('is rebuilt without the changes of a stopped script and with all stored ones', async () => {
    stand.send(actor, ['SET kept 1', 'RPUSH list a b'], 'pipeline');
    await stand.settle();
    const before = stand.send(actor, 'INCR kept');
    const script = stand.send(actor, stopped);
    const after = stand.send(actor, ['GET kept', 'EXISTS half', 'LRANGE list 0 -1'], 'pipeline');
    await answered(stand, script);
    await stand.time.advance(100);
    expect(before.replies).to.deep.equal([2]);
    expect(script.replies?.[0])
      .to.have.property('text')
      .that.matches(/^ERR Script stopped: it needs /);
    expect(after.replies).to.deep.equal(['2', 0, ['a', 'b']]);
  });

  it('undoes the whole transaction of the script', async () => {
    const outcome = stand.send(actor, ['SET first 1', stopped, 'SET last 1'], 'transaction');
    const after = stand.send(actor, 'EXISTS first half last');
    await answered(stand, outcome);
    await stand.time.advance(100);
    const texts = outcome.replies?.map((reply) => (reply as { text: string }).text) ?? [];
    expect(texts[1]).to.match(/^ERR Script stopped/);
    expect([texts[0], texts[2]]).to.deep.equal(Array(2).fill(UNDONE));
    expect(after.replies).to.deep.equal([0]);
  });

  it('aborts transactions that watched keys, and invalidates all cached keys', async () => {
    const edge = 'edge-1' as never;
    const client = CLIENT;
    stand.ask(actor, { mode: 'listen', listen: { edge, isWhole: true, counts: [['invalidation', '', 1]] } });
    stand.ask(actor, { client, commands: [['GET', 'a']], trackFor: edge });
    const mark = stand.ask(actor, { client, mode: 'watch', commands: [['WATCH', 'a']] });
    await stand.settle();
    await answered(stand, stand.send(actor, stopped));
    await stand.time.advance(100);
    const watches = [{ keys: ['a'], mark: mark.replies?.[0] as string }];
    const outcome = stand.ask(actor, { client, mode: 'transaction', commands: [['SET', 'b', '1']], watches });
    await stand.settle();
    expect(outcome.isAborted).to.equal(true);
    expect(stand.deliveries.flatMap(({ events }) => events)).to.deep.equal([
      { type: 'invalidate', keys: null, by: undefined },
    ]);
  });
});
