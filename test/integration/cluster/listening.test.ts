/**
 * Two processes on one NATS: subscribers, waiters, watched keys and caches at one process follow changes made at the
 * other. Proves KH1, KH4, AUD2.
 */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, PASSWORD, TOKEN } from '../../support/millrace-process.js';

const MESSAGES = 10_000;
/** Published concurrently, so that several are always on their way. */
const BURST = 250;

describe('two processes on one NATS', function () {
  this.timeout(60_000);
  let nats: NatsFacts;
  const processes: MillraceProcess[] = [];
  const ports: number[] = [];
  const open = new Set<{ disconnect(): void }>();

  before(async () => {
    nats = await startPlainNats();
    // This test kills no process; a slow process on a busy machine must not be taken for dead either.
    const cluster = await MillraceCluster.prepare(nats, { MILLRACE_TAKEOVER_SILENCE_MS: '15000' });
    for (let at = 0; at < 2; at += 1) {
      const port = await freePort();
      ports.push(port);
      processes.push(await cluster.start({ MILLRACE_RESP_PORT: String(port) }));
    }
    for (const { kv } of processes) await eventually(() => kv.ask('SET', 'settled', 'yes'), { timeoutMs: 20_000 });
  });
  afterEach(() => {
    for (const client of open) client.disconnect();
    open.clear();
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  function at(which: 0 | 1): Redis {
    const client = new Redis({ port: ports[which] as number, password: PASSWORD });
    client.on('error', () => undefined);
    open.add(client);
    return client;
  }

  async function streamOf(which: 0 | 1, channel: string): Promise<string[]> {
    const abort = new AbortController();
    open.add({ disconnect: () => abort.abort() });
    const answer = await fetch(`${processes[which]?.kvUrl}/subscribe/${channel}`, {
      headers: { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream' },
      signal: abort.signal,
    });
    const lines: string[] = [];
    const reading = async (): Promise<void> => {
      let rest = '';
      for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
        const parts = (rest + piece).split('\n');
        rest = parts.pop() as string;
        for (const part of parts) if (part.startsWith('data: message,')) lines.push(part.split(',')[2] as string);
      }
    };
    reading().catch(() => undefined);
    return lines;
  }

  for (const publisher of [0, 1] as const) {
    it(`deliver ${MESSAGES} messages published at process ${publisher} to subscribers at both, each once and in order`, async () => {
      const channel = `counted-${publisher}`;
      const heard = new Map<string, string[]>();
      for (const listener of [0, 1] as const) {
        const lines: string[] = [];
        const subscriber = at(listener);
        subscriber.on('message', (_, text: string) => lines.push(text));
        await subscriber.subscribe(channel);
        heard.set(`native at ${listener}`, lines);
        heard.set(`stream at ${listener}`, await streamOf(listener, channel));
      }
      const sender = at(publisher);
      for (let from = 0; from < MESSAGES; from += BURST) {
        const counts = await Promise.all(
          Array.from({ length: BURST }, (_, next) => sender.publish(channel, String(from + next))),
        );
        expect(new Set(counts)).to.deep.equal(new Set([4]));
      }
      const expected = Array.from({ length: MESSAGES }, (_, next) => String(next));
      for (const [who, lines] of heard) {
        await eventually(() => expect(lines.length, who).to.equal(MESSAGES), { timeoutMs: 20_000 });
        expect(lines, who).to.deep.equal(expected);
      }
    });

    it(`wake a client blocked at process ${1 - publisher} after a push through process ${publisher}`, async () => {
      const waiter = at((1 - publisher) as 0 | 1);
      const pusher = at(publisher);
      const key = `jobs-${publisher}`;
      for (let round = 0; round < 20; round += 1) {
        const waiting = waiter.blpop(key, 10);
        if (round % 2 === 0) await new Promise((done) => setImmediate(done));
        await pusher.rpush(key, String(round));
        expect(await waiting).to.deep.equal([key, String(round)]);
      }
      expect(await pusher.exists(key)).to.equal(0);
      const reading = waiter.xread('BLOCK', 10_000, 'STREAMS', `events-${publisher}`, '0');
      const id = await pusher.xadd(`events-${publisher}`, '*', 'a', '1');
      expect(await reading).to.deep.equal([[`events-${publisher}`, [[id, ['a', '1']]]]]);
    });

    it(`abort a transaction at process ${publisher} when a watched key was changed at the other`, async () => {
      const watcher = at(publisher);
      const other = at((1 - publisher) as 0 | 1);
      await other.set('watched', '1');
      await watcher.watch('watched');
      await other.incr('watched');
      expect(await watcher.multi().set('watched', 'lost').exec()).to.equal(null);
      await watcher.watch('watched');
      expect(await watcher.multi().incr('watched').exec()).to.deep.equal([[null, 3]]);
      expect(await other.get('watched')).to.equal('3');
    });

    it(`invalidate a client-side cache at process ${publisher} after a change at the other`, async () => {
      const caching = createClient({
        RESP: 3,
        password: PASSWORD,
        socket: { port: ports[publisher] as number },
        clientSideCache: { ttl: 0, maxEntries: 100 },
      });
      open.add({ disconnect: () => caching.destroy() });
      await caching.connect();
      const other = at((1 - publisher) as 0 | 1);
      for (let round = 0; round < 5; round += 1) {
        await other.set('cached', String(round));
        await eventually(async () => expect(await caching.get('cached')).to.equal(String(round)));
      }
    });

    it(`show a MONITOR at process ${publisher} the commands of both`, async () => {
      const monitor = await at(publisher).monitor();
      open.add(monitor);
      const seen: string[] = [];
      monitor.on('monitor', (_: string, words: string[]) => seen.push(words.join(' ').toLowerCase()));
      await at(0).set('seen', `native 0 ${publisher}`);
      await at(1).set('seen', `native 1 ${publisher}`);
      for (const [number, { kv }] of processes.entries()) await kv.ask('SET', 'seen', `rest ${number} ${publisher}`);
      await eventually(() =>
        expect(seen).to.include.members(
          ['native 0', 'native 1', 'rest 0', 'rest 1'].map((who) => `set seen ${who} ${publisher}`),
        ),
      );
    });
  }

  it('end subscribers at one process when their right is removed at the other', async () => {
    const admin = at(0);
    for (const user of ['ann', 'bob', 'cat', 'dan', 'eve']) {
      await admin.call('ACL', 'SETUSER', user, 'on', `>pw-of-${user}`, '~*', '&revoked', '&other', '+@all');
    }
    const ended: string[] = [];
    const heard: string[] = [];
    async function listening(username: string): Promise<Redis> {
      const client = new Redis({
        port: ports[1] as number,
        username,
        password: `pw-of-${username}`,
        retryStrategy: () => null,
      });
      client.on('error', () => undefined);
      client.on('end', () => ended.push(username));
      client.on('message', (_, text: string) => heard.push(`${username}: ${text}`));
      open.add(client);
      await client.ping();
      return client;
    }
    await (await listening('ann')).subscribe('revoked');
    const monitor = await (await listening('bob')).monitor();
    let isMonitorOver = false;
    monitor.on('end', () => {
      isMonitorOver = true;
    });
    monitor.on('monitor', (_, words: string[]) => {
      if (words.includes('secret')) heard.push('bob: secret');
    });
    await (await listening('cat')).call('CLIENT', 'TRACKING', 'on', 'BCAST');
    await (await listening('dan')).subscribe('other');
    await (await listening('eve')).subscribe('revoked');
    const token = String(await admin.call('ACL', 'RESTTOKEN', 'ann', 'pw-of-ann'));
    const abort = new AbortController();
    open.add({ disconnect: () => abort.abort() });
    const stream = await fetch(`${processes[1]?.kvUrl}/subscribe/revoked`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      signal: abort.signal,
    });
    const streamed = stream.text();
    await admin.call('ACL', 'SETUSER', 'ann', 'resetchannels', '&other');
    await admin.call('ACL', 'SETUSER', 'bob', '-monitor');
    await admin.call('ACL', 'SETUSER', 'cat', 'resetkeys', '~a*');
    await admin.call('ACL', 'SETUSER', 'dan', 'resetchannels', '&other');
    await admin.call('ACL', 'DELUSER', 'eve');
    await admin.publish('revoked', 'secret');
    await admin.set('b', 'secret');
    await admin.publish('other', 'news');
    await eventually(() => expect([...ended].sort()).to.include.members(['ann', 'cat', 'eve']));
    await eventually(() => expect(isMonitorOver).to.equal(true));
    expect(await streamed)
      .to.contain('subscribe,revoked,1')
      .and.not.to.contain('secret');
    await eventually(() => expect(heard).to.deep.equal(['dan: news']));
    expect(ended).not.to.include('dan');
  });
});
