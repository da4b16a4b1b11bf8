/** The answers to RESP clients while a database, or the process, is loading. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { MemoryOwner } from '../../support/memory-owner.js';
import { realTime } from '../../support/real-time.js';
import { OTHER_PASSWORD, PASSWORD, RespEndpointHarness, WIDE_PASSWORD } from '../../support/resp-endpoint.js';

const SWEEP_EVERY_MS = 5;
const SILENCE_MS = 60;
const LOADING = /^-LOADING [^\r]+, nothing was executed\r\n$/;

describe('RESP: a database that is loading', () => {
  const owner = new MemoryOwner();
  /** Partitions without a serving owner. */
  const loading = new Set<string>();
  const refuse = (partition: string) => {
    if (loading.has(partition)) throw new MillraceError('SHARD_UNAVAILABLE', `${partition} is still loading`);
  };
  let face: RespEndpointHarness;
  let isStarting = false;
  /** Silence is measured by this clock, so that a busy machine does not add to it. */
  let monotonicMs = 0;
  beforeEach(async () => {
    loading.clear();
    isStarting = false;
    monotonicMs = 0;
    face = await new RespEndpointHarness({
      clock: { nowMs: () => realTime.nowMs(), monotonicMs: () => monotonicMs },
      gateway: {
        execute: async (request) => {
          refuse(request.partition);
          return owner.execute(request);
        },
        isLoading: (partition) => loading.has(partition),
      },
      isStarting: () => isStarting,
      events: {
        edge: owner.edge,
        subscribe: async (grant, kind, name, onEvent) => {
          if (name !== 'served') grant.partitions.forEach(refuse);
          return owner.subscribe(grant, kind, name, onEvent);
        },
      },
      limits: { sweepEveryMs: SWEEP_EVERY_MS, loadingSilenceMs: SILENCE_MS },
    }).start();
    loading.add('kv:db-first:0');
  });
  afterEach(() => face.stop());

  for (const words of [
    ['GET', 'k'],
    ['SET', 'k', 'v'],
    ['INFO'],
    ['DBSIZE'],
    ['EVAL', 'return 1', '0'],
    ['BLPOP', 'k', '0'],
    ['WATCH', 'k'],
    ['SUBSCRIBE', 'c'],
    ['PSUBSCRIBE', 'c*'],
    ['SSUBSCRIBE', 'c'],
    ['MONITOR'],
  ]) {
    it(`answers ${words[0]} with -LOADING, and with its result once it is loaded`, async () => {
      const client = await face.client();
      expect(await client.call(...words)).to.match(LOADING);
      loading.clear();
      if (words[0] !== 'BLPOP') expect(await client.call(...words)).not.to.match(/^-/);
    });
  }

  it('answers EXEC with -LOADING', async () => {
    const client = await face.client();
    await client.call('MULTI');
    expect(await client.call('SET', 'k', 'v')).to.equal('+QUEUED\r\n');
    expect(await client.call('EXEC')).to.match(LOADING);
  });

  it('answers -LOADING for each command of a pipeline that needs the loading partition, and results for the others', async () => {
    const wide = await face.client(2, WIDE_PASSWORD);
    loading.add('kv:db-wide:1');
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
    wide.send(keys.map((key) => encodeCommand(['SET', key, 'v'])).join(''));
    const answers: string[] = [];
    for (const _ of keys) answers.push(await wide.next());
    expect(answers.filter((answer) => LOADING.test(answer))).to.have.length.within(1, 19);
    expect(answers.filter((answer) => !LOADING.test(answer)).every((answer) => answer === '+OK\r\n')).to.equal(true);
  });

  it('answers PING with -LOADING in a process that is starting, and with PONG when it moves later', async () => {
    const client = await face.client();
    expect(await client.call('PING')).to.equal('+PONG\r\n');
    isStarting = true;
    expect(await client.call('PING')).to.match(LOADING);
    expect(await client.call('ECHO', 'here')).to.equal('$4\r\nhere\r\n');
    loading.clear();
    expect(await client.call('PING')).to.equal('+PONG\r\n');
  });

  it('does not affect the clients of other databases', async () => {
    expect(await (await face.client(2, OTHER_PASSWORD)).call('GET', 'k')).to.equal('$-1\r\n');
  });

  it('answers SUBSCRIBE of several channels once, and subscribes to none of them', async () => {
    const client = await face.client();
    client.send(encodeCommand(['SUBSCRIBE', 'a', 'served', 'b']) + encodeCommand(['ECHO', 'next']));
    expect(await client.next()).to.match(LOADING);
    expect(await client.next()).to.equal('$4\r\nnext\r\n');
    expect(await client.call('CLIENT', 'INFO')).to.match(/ sub=0 /);
    expect(owner.ownerOf('kv:db-first:0').listeners.size).to.equal(0);
  });

  it('closes a connection that stays silent after its INFO was refused', async () => {
    const client = await face.client();
    expect(await client.call('INFO')).to.match(LOADING);
    monotonicMs += SILENCE_MS;
    await eventually(() => expect(client.isClosed).to.equal(true));
  });

  it('keeps a connection that continues after its INFO was refused, or that got an INFO since', async () => {
    const client = await face.client();
    for (let asked = 0; asked < 10; asked += 1) {
      expect(await client.call('INFO')).to.match(LOADING);
      monotonicMs += SILENCE_MS - 1;
      await aFewSweeps();
    }
    loading.clear();
    expect(await client.call('INFO')).to.match(/^\$/);
    monotonicMs += 10 * SILENCE_MS;
    await aFewSweeps();
    expect(client.isClosed).to.equal(false);
  });

  function aFewSweeps(): Promise<void> {
    return new Promise((done) => setTimeout(done, 4 * SWEEP_EVERY_MS));
  }
});

describe('RESP: a process that is starting', () => {
  let face: RespEndpointHarness;
  let isStarting = true;
  beforeEach(async () => {
    isStarting = true;
    face = await new RespEndpointHarness({
      isStarting: () => isStarting,
      freshness: {
        get isFresh() {
          return !face.isControlStale;
        },
      },
      limits: { maxDoubtMs: 20 },
    }).start();
    face.isControlStale = true;
  });
  afterEach(() => face.stop());

  it('answers AUTH, HELLO and commands that need them with -LOADING until it can check passwords', async () => {
    const client = await face.connect();
    for (const words of [['AUTH', PASSWORD], ['INFO'], ['HELLO', '3', 'AUTH', 'default', PASSWORD], ['GET', 'k']]) {
      expect(await client.call(...words), words.join(' ')).to.match(LOADING);
    }
    face.isControlStale = false;
    expect(await client.call('GET', 'k')).to.match(/^-NOAUTH /);
    expect(await client.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
  });

  it('answers the real error instead of -LOADING once it has served', async () => {
    isStarting = false;
    const client = await face.connect();
    expect(await client.call('AUTH', PASSWORD)).to.match(/^-ERR permissions cannot be checked right now/);
    expect(await client.call('GET', 'k')).to.match(/^-NOAUTH /);
  });
});
