/** Published packages that stand on the clients of the store and of vectors: rate limits, locks, queues, live events, answers. */
import { Lock } from '@upstash/lock';
import { Queue } from '@upstash/queue';
import { Ratelimit } from '@upstash/ratelimit';
import { Realtime } from '@upstash/realtime';
import { Redis } from '@upstash/redis';
import { SemanticCache } from '@upstash/semantic-cache';
import { Index } from '@upstash/vector';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startServed } from '../../support/millrace-clients.js';
import { endEverything, type MillraceProcess, TOKEN } from '../../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';

describe('client packages: companions of the store and of vectors, on a process', function () {
  this.timeout(60_000);
  let millrace: MillraceProcess;
  let redis: Redis;

  before(async () => {
    millrace = await startServed({ MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY });
    redis = new Redis({ url: millrace.kvUrl, token: TOKEN });
  });
  after(endEverything);

  // Some packages use types of another build of the client, so these types are `never`.

  describe('@upstash/ratelimit', () => {
    const LIMITERS = {
      fixedWindow: () => Ratelimit.fixedWindow(3, '1 h'),
      slidingWindow: () => Ratelimit.slidingWindow(3, '1 h'),
      tokenBucket: () => Ratelimit.tokenBucket(3, '1 h', 3),
      cachedFixedWindow: () => Ratelimit.cachedFixedWindow(3, '1 h'),
    };

    for (const [name, limiter] of Object.entries(LIMITERS)) {
      it(`${name} allows three requests, refuses the fourth, and counts each identifier by itself`, async () => {
        const ratelimit = new Ratelimit({ redis, limiter: limiter(), prefix: name, ephemeralCache: new Map() });
        const asked: boolean[] = [];
        for (let at = 0; at < 4; at += 1) asked.push((await ratelimit.limit('ada')).success);
        expect(asked).to.deep.equal([true, true, true, false]);
        expect((await ratelimit.limit('bob')).success).to.equal(true);
        await ratelimit.resetUsedTokens('ada');
      });
    }

    it('getRemaining and resetUsedTokens read and restore the tokens of an identifier', async () => {
      const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.slidingWindow(3, '1 h'), prefix: 'rest' });
      await ratelimit.limit('ada');
      expect((await ratelimit.getRemaining('ada')).remaining).to.equal(2);
      await ratelimit.resetUsedTokens('ada');
      expect((await ratelimit.getRemaining('ada')).remaining).to.equal(3);
    });

    it('stores analytics of allowed and refused requests', async () => {
      const limiter = Ratelimit.fixedWindow(1, '1 h');
      const ratelimit = new Ratelimit({ redis, limiter, prefix: 'seen', analytics: true });
      for (let at = 0; at < 2; at += 1) await (await ratelimit.limit('ada')).pending;
      await eventually(async () => expect(await redis.keys('seen:events:*')).to.have.length(1));
    });
  });

  it('@upstash/lock is held by one holder, extended and released', async () => {
    const [one, other] = [1, 2].map(
      () => new Lock({ id: 'report', redis: redis as never, lease: 60_000, retry: { attempts: 1, delay: 0 } }),
    );
    expect(await one?.acquire()).to.equal(true);
    expect(await other?.acquire()).to.equal(false);
    expect(await one?.extend(60_000)).to.equal(true);
    expect(await other?.release()).to.equal(false);
    expect(await one?.getStatus()).to.equal('ACQUIRED');
    expect(await one?.release()).to.equal(true);
    expect(await other?.acquire()).to.equal(true);
  });

  it('@upstash/queue sends and receives messages in order, each once', async () => {
    const queue = new Queue({ redis: redis as never, queueName: 'orders', concurrencyLimit: 1 });
    for (const order of [1, 2, 3]) await queue.sendMessage({ order });
    const received: unknown[] = [];
    for (let at = 0; at < 3; at += 1) received.push((await queue.receiveMessage<{ order: number }>())?.body);
    expect(received).to.deep.equal([{ order: 1 }, { order: 2 }, { order: 3 }]);
    expect(await queue.receiveMessage()).to.equal(null);
  });

  it('@upstash/realtime delivers events to subscribers, with those of the history first', async () => {
    const realtime: Events = new Realtime({ redis, history: true }) as never;
    const room = realtime.channel('room');
    await room.emit('said', { text: 'first' });
    const heard: unknown[] = [];
    const stop = await room.subscribe({ events: ['said'], history: true, onData: ({ data }) => heard.push(data) });
    await room.emit('said', { text: 'second' });
    await eventually(() => expect(heard).to.deep.equal([{ text: 'first' }, { text: 'second' }]));
    stop();
    expect((await room.history()).map(({ data }) => data)).to.deep.equal([{ text: 'first' }, { text: 'second' }]);
  });

  it('@upstash/semantic-cache finds an answer by a similar question', async () => {
    const answer = await fetch(`${millrace.addresses.mgmt}/v2/vector/index`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` },
      body: JSON.stringify({ name: 'answers', region: 'eu-west-1', embedding_model: 'HASHING', dimension_count: 256 }),
    });
    const { endpoint, token } = (await answer.json()) as { endpoint: string; token: string };
    const index = new Index({ url: `http://${endpoint}`, token });
    const cache = new SemanticCache({ index: index as never, minProximity: 0.9 });
    await cache.set('the capital of Turkey', 'Ankara');
    await eventually(async () => expect(await cache.get('the capital of Turkey')).to.equal('Ankara'));
    expect(await cache.get('capital of Turkey')).to.equal('Ankara');
    expect(await cache.get('a recipe for bread')).to.equal(undefined);
    expect(await cache.delete('the capital of Turkey')).to.equal(1);
    await eventually(async () => expect(await cache.get('the capital of Turkey')).to.equal(undefined));
    await cache.flush();
  });
});

/** Without a schema of `zod` the package's types know no event. */
interface Events {
  channel(name: string): {
    emit(event: string, data: object): Promise<void>;
    subscribe(asked: {
      readonly events: readonly string[];
      readonly history: boolean;
      onData(event: { readonly data: unknown }): void;
    }): Promise<() => void>;
    history(): Promise<readonly { readonly data: unknown }[]>;
  };
}
