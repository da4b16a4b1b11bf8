/** The published REST package on a real process: streams with groups, and messages over server-sent events. */
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { failureOf, startServed } from '../../support/millrace-clients.js';
import { endEverything, type MillraceProcess, TOKEN } from '../../support/millrace-process.js';

describe('client package: @upstash/redis on a process, streams', function () {
  this.timeout(30_000);
  let millrace: MillraceProcess;
  let redis: Redis;
  before(async () => {
    millrace = await startServed();
    redis = new Redis({ url: millrace.kvUrl, token: TOKEN });
  });
  after(endEverything);
  beforeEach(() => redis.flushdb());

  it('XADD, XRANGE, XREAD and XDEL add, read and delete entries', async () => {
    expect(await redis.xadd('s', '1-1', { a: 1, b: { c: 2 } })).to.equal('1-1');
    expect(await redis.xadd('s', '1-*', { a: 2 })).to.equal('1-2');
    expect(await redis.xadd('none', '*', { a: 1 }, { nomkStream: true })).to.equal(null);
    expect(await redis.xrange('s', '-', '+')).to.deep.equal({ '1-1': { a: 1, b: { c: 2 } }, '1-2': { a: 2 } });
    expect(Object.keys(await redis.xrevrange('s', '+', '-', 1))).to.deep.equal(['1-2']);
    expect(await redis.xread('s', '1-1')).to.deep.equal([['s', [['1-2', ['a', 2]]]]]);
    expect(await redis.xread('s', '9')).to.equal(null);
    expect(await redis.xlen('s')).to.equal(2);
    expect(await redis.xdel('s', '1-1')).to.equal(1);
    expect(await redis.xinfo('s', { type: 'GROUPS' })).to.deep.equal([]);
  });

  it('XTRIM trims to about 30 entries after 1,000 parallel XADDs', async () => {
    const single = new Redis({ url: millrace.kvUrl, token: TOKEN, enableAutoPipelining: false });
    await Promise.all(Array.from({ length: 1000 }, (_, at) => single.xadd('s', '*', { at })));
    await redis.xtrim('s', { strategy: 'MAXLEN', threshold: 30, exactness: '~' });
    expect(await redis.xlen('s')).to.be.within(29, 31);
    await redis.xtrim('s', { strategy: 'MAXLEN', threshold: 3, exactness: '=' });
    expect(await redis.xlen('s')).to.equal(3);
  });

  it('XREADGROUP, XCLAIM and XAUTOCLAIM serve groups of consumers', async () => {
    expect(await failureOf(redis.xgroup('s', { type: 'CREATE', group: 'g', id: '0' }))).to.contain('MKSTREAM');
    const create = { type: 'CREATE', group: 'g', id: '0', options: { MKSTREAM: true } } as const;
    expect(await redis.xgroup('s', create)).to.equal('OK');
    expect(await failureOf(redis.xgroup('s', create))).to.contain('BUSYGROUP');
    for (const at of [1, 2, 3]) await redis.xadd('s', `${at}-0`, { at });
    expect(await redis.xreadgroup('g', 'one', 's', '>', { count: 2 })).to.deep.equal([
      [
        's',
        [
          ['1-0', ['at', 1]],
          ['2-0', ['at', 2]],
        ],
      ],
    ]);
    expect(await redis.xreadgroup('g', 'two', 's', '>', { NOACK: true })).to.have.length(1);
    expect(await redis.xreadgroup('g', 'two', 's', '>')).to.equal(null);
    const consumers = (await redis.xinfo('s', { type: 'CONSUMERS', group: 'g' })) as unknown[][];
    expect(consumers.map((consumer) => consumer[1])).to.include('one');
    expect(await redis.xack('s', 'g', '1-0')).to.equal(1);
    const pending = (await redis.xpending('s', 'g', '-', '+', 10)) as unknown[][];
    expect(pending.map(([id, consumer]) => [id, consumer])).to.deep.equal([['2-0', 'one']]);
    expect(await redis.xclaim('s', 'g', 'two', 0, '2-0')).to.deep.equal([['2-0', ['at', 2]]]);
    expect(await redis.xautoclaim('s', 'g', 'one', 0, '0-0', { justId: true })).to.deep.equal(['0-0', ['2-0'], []]);
    expect(await redis.exec(['XACKDEL', 's', 'g', 'IDS', '2', '2-0', '9-9'])).to.deep.equal([1, -1]);
    expect(await redis.exec(['XDELEX', 's', 'IDS', '1', '1-0'])).to.deep.equal([1]);
    expect(await redis.xlen('s')).to.equal(1);
    const [group] = (await redis.xinfo('s', { type: 'GROUPS' })) as unknown[][];
    expect(group).to.include.members(['name', 'g', 'pending', 0]);
    expect(await redis.xgroup('s', { type: 'SETID', group: 'g', id: '0' })).to.equal('OK');
    expect(await redis.xgroup('s', { type: 'DELCONSUMER', group: 'g', consumer: 'one' })).to.equal(0);
    expect(await redis.xgroup('s', { type: 'DESTROY', group: 'g' })).to.equal(1);
    expect(await failureOf(redis.xgroup('none', { type: 'DESTROY', group: 'g' }))).to.contain('ERR');
  });

  it('XREADGROUP with NOACK creates no consumer', async () => {
    await redis.xgroup('s', { type: 'CREATE', group: 'g', id: '0', options: { MKSTREAM: true } });
    await redis.xadd('s', '*', { a: 1 });
    await redis.xreadgroup('g', 'passing', 's', '>', { NOACK: true });
    expect(await redis.xinfo('s', { type: 'CONSUMERS', group: 'g' })).to.deep.equal([]);
  });

  it('subscribe receives the messages of channels as they were published', async () => {
    const heard: unknown[] = [];
    const subscribed: unknown[] = [];
    const subscriber = redis.subscribe<unknown>(['news', 'more']);
    subscriber.on('subscribe', (count) => subscribed.push(count));
    subscriber.on('message', ({ channel, message }) => heard.push([channel, message]));
    await eventually(() => expect(subscribed).to.deep.equal([1, 1]));
    expect(await redis.publish('news', { a: [1, 'x,y'] })).to.equal(1);
    expect(await redis.publish('more', 'text, with, commas')).to.equal(1);
    expect(await redis.publish('nobody', 'x')).to.equal(0);
    await eventually(() => expect(heard).to.have.length(2));
    expect(heard).to.have.deep.members([
      ['news', { a: [1, 'x,y'] }],
      ['more', 'text, with, commas'],
    ]);
    expect(await redis.exec<string[]>(['PUBSUB', 'CHANNELS'])).to.have.members(['news', 'more']);
    await subscriber.unsubscribe(['news']);
    await eventually(async () => expect(await redis.publish('news', 'late')).to.equal(0));
    expect(await redis.publish('more', 'on time')).to.equal(1);
    await eventually(() => expect(heard).to.have.length(3));
    await subscriber.unsubscribe();
    await eventually(async () => expect(await redis.exec(['PUBSUB', 'CHANNELS'])).to.deep.equal([]));
  });

  it('psubscribe receives the messages of patterns, with two listeners', async () => {
    const heard: unknown[] = [];
    const listeners = [redis.psubscribe<unknown>('user:*'), redis.psubscribe<unknown>(['user:[0-9]', 'x*'])];
    // The package reads messages of patterns as JSON only.
    let ready = 0;
    for (const [at, listener] of listeners.entries()) {
      listener.on('psubscribe', () => {
        ready += 1;
      });
      listener.on('pmessage', ({ pattern, channel, message }) => heard.push([at, pattern, channel, message]));
    }
    await eventually(() => expect(ready).to.equal(3));
    expect(await redis.publish('user:1', { say: 'hi' })).to.equal(2);
    expect(await redis.publish('user:10', { say: 'ho' })).to.equal(1);
    await eventually(() => expect(heard).to.have.length(3));
    expect(heard).to.have.deep.members([
      [0, 'user:*', 'user:1', { say: 'hi' }],
      [1, 'user:[0-9]', 'user:1', { say: 'hi' }],
      [0, 'user:*', 'user:10', { say: 'ho' }],
    ]);
    await Promise.all(listeners.map((listener) => listener.unsubscribe()));
    await eventually(async () => expect(await redis.exec(['PUBSUB', 'NUMPAT'])).to.equal(0));
  });

  it("POST /monitor shows other clients' commands, without passwords", async () => {
    const abort = new AbortController();
    const answer = await fetch(`${millrace.kvUrl}/monitor`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream' },
      signal: abort.signal,
    });
    let text = '';
    const reading = (async () => {
      for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) text += piece;
    })().catch(() => undefined);
    await eventually(() => expect(text).to.match(/^data: "OK"\n/));
    await redis.set('k', 'a "b"');
    await redis.exec(['ACL', 'SETUSER', 'spy', '>secret']);
    await eventually(() => expect(text).to.match(/^data: \d+\.\d{6} \[0 [^\]]+\] "set" "k" "a \\"b\\""$/im));
    await redis.set('after', 1);
    await eventually(() => expect(text).to.contain('"after"'));
    expect(text).not.to.contain('secret');
    abort.abort();
    await reading;
  });
});
