/** Event streams of the operators' API: their events, and every reason for their end. Proves ES1, ES2, FD1, MON1. */
import { strict as assert } from 'node:assert';
import { expect } from 'chai';
import { MAX_MONITOR_BYTES, MAX_MONITOR_COMMANDS } from '../../../src/edge/admin/admin-limits.js';
import { type AccountId, MillraceError } from '../../../src/kernel/index.js';
import { uuidOf } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import type { Caller } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';
import { AdminStand, EMPTY_CLUSTER } from './admin-stand.js';
import type { ReadStream } from './read-stream.js';

const MAX_STREAMS = 200;
const MAX_STREAMS_OF_ACCOUNT = 100;

describe("event streams of the operators' API", () => {
  const stand = standOfEachTest(() => new AdminStand().start());
  let database: string;

  beforeEach(async () => {
    database = await stand.newDatabase();
  });

  const logs = (more = '') => stand.open(`/v2/admin/queues/${stand.queue}/logs${more}`);
  const add = (atMs: number, id: string, body = '') =>
    stand.messageLog.add(stand.ownerAccount, atMs, id, 'CREATED', body);
  const idsIn = (stream: ReadStream) =>
    stream.events.map(({ name, data }) => `${name} ${(data as { messageId: string }).messageId}`);
  /** Advances the server's time by a second and waits for the data that is still on the network. */
  const tick = <T>(check: () => T) =>
    eventually(async () => {
      await stand.time.advance(1000);
      return check();
    });

  it('logs: sends each event once, also several of one millisecond and late ones', async () => {
    const now = stand.control.nowMs;
    add(now - 1, 'before');
    add(now, 'a');
    const stream = await logs();
    expect(stream.response.headers).to.include({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    await tick(() => expect(idsIn(stream)).to.deep.equal(['log a']));
    add(now, 'b');
    add(now, 'b');
    add(now + 5, 'c');
    await tick(() => expect(idsIn(stream)).to.deep.equal(['log a', 'log b', 'log b', 'log c']));
    add(now + 5, 'd');
    add(now + 6, 'e');
    await tick(() => expect(idsIn(stream).slice(4)).to.deep.equal(['log d', 'log e']));
    await stand.time.advance(5000);
    expect(idsIn(stream)).to.have.length(6);
  });

  it('logs: sends more events than one read returns, many of one millisecond', async () => {
    const now = stand.control.nowMs;
    const ids = Array.from({ length: 1234 }, (_, at) => `m${at}`);
    for (const [at, id] of ids.entries()) add(now + (at < 900 ? 0 : 1), id);
    const stream = await logs();
    await eventually(() => expect(idsIn(stream)).to.deep.equal(ids.map((id) => `log ${id}`)));
    add(now + 1, 'last');
    await tick(() => expect(idsIn(stream).slice(ids.length)).to.deep.equal(['log last']));
  });

  it('logs: starts in the past with ?from, and sends no events of other accounts', async () => {
    const now = stand.control.nowMs;
    add(now - 2000, 'long ago');
    add(now - 1000, 'then');
    stand.messageLog.add('ac-neighbour' as AccountId, now, 'theirs', 'CREATED');
    const stream = await logs(`?from=${now - 1000}`);
    await tick(() => expect(idsIn(stream)).to.deep.equal(['log then']));
  });

  it('cluster/events: sends the whole status after a change', async () => {
    const stream = await stand.open('/v2/admin/cluster/events');
    await eventually(() => expect(stream.events).to.deep.equal([{ name: 'cluster', data: EMPTY_CLUSTER }]));
    await stand.time.advance(5000);
    expect(stream.events, 'nothing has changed').to.have.length(1);
    stand.clusterStatus = { ...EMPTY_CLUSTER, alarms: ['without an owner: KV_0'] };
    await tick(() => expect(stream.events.map(({ data }) => data)).to.deep.equal([EMPTY_CLUSTER, stand.clusterStatus]));
  });

  it('monitor: sends parsed commands of a database, and the number left out', async () => {
    const stream = await stand.open(`/v2/admin/databases/${database}/monitor`);
    await eventually(() => expect(stand.monitors.size).to.equal(1));
    const run = (line: string) => {
      for (const tell of stand.monitors) tell({ type: 'monitor', line });
    };
    run('1721284005.242090 [0 127.0.0.1:50432] "SET" "k" "a \\"b\\\\ \\n\\xc3\\xbc"');
    run(`1721284006.000100 [0 lua] "SET" "k" "${'x'.repeat(MAX_MONITOR_BYTES)}"`);
    run('1721284007.000000 [0 [::1]:50432] "PING"');
    const batches = () => stream.events.map(({ data }) => data as { commands: { words: string[] }[]; leftOut: number });
    await tick(() => expect(batches().flatMap(({ commands }) => commands)).to.have.length(3));
    const [first, second, third] = batches().flatMap(({ commands }) => commands);
    expect(first).to.deep.equal({
      time: 1721284005242,
      client: '127.0.0.1:50432',
      words: ['SET', 'k', 'a "b\\ \nü'],
    });
    expect(second).to.deep.include({ time: 1721284006000, client: 'lua', isCut: true });
    expect(second?.words[2]?.length).to.be.within(MAX_MONITOR_BYTES - 20, MAX_MONITOR_BYTES);
    expect(third).to.deep.include({ client: '[::1]:50432', words: ['PING'] });
    for (let count = 0; count <= MAX_MONITOR_COMMANDS; count += 1) run('1721284008.000000 [0 x] "PING"');
    await tick(() => expect(batches().map(({ leftOut }) => leftOut)).to.include(1));
    expect(batches().at(-1)?.commands).to.have.length(MAX_MONITOR_COMMANDS);
    stream.leave();
    await eventually(() => expect(stand.monitors.size).to.equal(0));
  });

  it('statistics: sends them after a change', async () => {
    for (const path of [`databases/${database}`, `queues/${stand.queue}`]) {
      const stream = await stand.open(`/v2/admin/${path}/statistics`);
      await eventually(() => expect(stream.events.map(({ name }) => name)).to.deep.equal(['statistics']));
      await stand.time.advance(5000);
      expect(stream.events, 'nothing has changed').to.have.length(1);
      stand.control.nowMs += 60_000;
      await tick(() => expect(stream.events.length).to.be.greaterThan(1));
      const [first, second] = stream.events.map(
        ({ data }) => (data as { times: { firstAtMs: number } }).times.firstAtMs,
      );
      expect((second as number) - (first as number)).to.equal(60_000);
    }
  });

  it('verify: sends progress, a report for each journal, and the end', async () => {
    stand.audit.texts = ['{"progress":{"done":1}}', '{"report":{"shard":"KV_0"}}', '{"done":{"isFine":true}}'];
    const stream = await stand.open(`/v2/admin/databases/${database}/verify`);
    await eventually(() => expect(stream.isEnded).to.equal(true));
    expect(stream.events).to.deep.equal([
      { name: 'progress', data: { done: 1 } },
      { name: 'report', data: { shard: 'KV_0' } },
      { name: 'done', data: { isFine: true } },
    ]);
  });

  it('a failure is sent without internal details', async () => {
    stand.audit.texts = ['{"progress":{"done":1}}'];
    stand.audit.failure = new Error('a secret detail');
    const stream = await stand.open(`/v2/admin/databases/${database}/verify`);
    await eventually(() => expect(stream.isEnded).to.equal(true));
    expect(stream.events.at(-1)).to.deep.equal({ name: 'failed', data: { error: 'internal error' } });
    expect(JSON.stringify(stand.log.lines)).to.include('admin.stream.failed').and.include('a secret detail');
    stand.messageLog.failure = new MillraceError('TIMED_OUT', 'no answer');
    const feed = await logs();
    await eventually(() => expect(feed.isEnded).to.equal(true));
    expect(feed.events).to.deep.equal([{ name: 'failed', data: { error: 'no answer in time' } }]);
  });

  it('a verification ends when its reader leaves', async () => {
    stand.audit.isEndless = true;
    const stream = await stand.open(`/v2/admin/databases/${database}/verify`);
    expect(stand.audit.underWay).to.equal(1);
    stream.leave();
    await eventually(() => expect(stand.audit.underWay).to.equal(0));
    await eventually(() => expect(stand.time.pendingCount).to.equal(0));
  });

  it('a verification ends when its reader left before it began', async () => {
    stand.audit.isEndless = true;
    const { send } = stand.control;
    let go = () => {};
    const asked = new Promise<void>((resolve) => {
      stand.control.send = async (command) => {
        resolve();
        await new Promise<void>((goOn) => {
          go = goOn;
        });
        return send.call(stand.control, command);
      };
    });
    const abort = new AbortController();
    const authorization = `Basic ${Buffer.from(`${stand.owner.email}:${stand.owner.key}`).toString('base64')}`;
    const call = fetch(`${stand.url}/v2/admin/databases/${database}/verify`, {
      headers: { authorization },
      signal: abort.signal,
    }).catch(() => 'gone');
    await asked;
    abort.abort();
    expect(await call).to.equal('gone');
    await stand.allAnswered();
    go();
    await eventually(() => expect([stand.audit.underWay, stand.time.pendingCount]).to.deep.equal([0, 0]));
  });

  it('a stream ends when its key is deleted, also a verification', async () => {
    stand.audit.isEndless = true;
    const key = await stand.newKey(stand.owner, 'of the feed');
    const streams = await Promise.all(
      [`queues/${stand.queue}/logs`, `queues/${stand.queue}/statistics`, `databases/${database}/verify`].map((path) =>
        stand.open(`/v2/admin/${path}`, key),
      ),
    );
    await stand.time.advance(3000);
    expect(streams.map(({ isEnded }) => isEnded)).to.deep.equal([false, false, false]);
    await stand.ok('DELETE', '/v2/apikey/of%20the%20feed');
    await tick(() => expect(streams.map(({ isEnded }) => isEnded)).to.deep.equal([true, true, true]));
    expect([stand.audit.underWay, stand.time.pendingCount]).to.deep.equal([0, 0]);
  });

  it('a stream ends when permissions can no longer be checked', async () => {
    const stream = await logs();
    stand.isControlStale = true;
    await tick(() => expect(stream.isEnded).to.equal(true));
  });

  it('a stream ends when the server drains, whether it is read or not', async () => {
    stand.audit.isEndless = true;
    stand.audit.texts = Array.from({ length: 300 }, () => JSON.stringify({ report: 'x'.repeat(100_000) }));
    const read = await logs();
    const unread = await stand.open(`/v2/admin/databases/${database}/verify`);
    unread.response.pause();
    await stand.time.advance(2000);
    stand.isDraining = true;
    await tick(() => expect(read.isEnded).to.equal(true));
    await eventually(() => expect(stand.audit.underWay).to.equal(0));
    await stand.allAnswered();
  });

  it('a verification waits for a slow reader, who receives every event', async () => {
    const sent = Array.from({ length: 200 }, (_, at) => ({ at, filler: 'x'.repeat(100_000) }));
    stand.audit.texts = [...sent.map((report) => JSON.stringify({ report })), '{"done":{"isFine":true}}'];
    const warned: string[] = [];
    const note = ({ name }: Error) => void warned.push(name);
    process.on('warning', note);
    const stream = await stand.open(`/v2/admin/databases/${database}/verify`);
    stream.response.pause();
    await stand.time.advance(5000);
    expect(stand.audit.underWay).to.equal(1);
    stream.response.resume();
    await eventually(() => expect(stream.isEnded).to.equal(true));
    process.off('warning', note);
    expect(stream.events.map(({ data }) => (data as { at: number }).at).slice(0, -1)).to.deep.equal(
      sent.map(({ at }) => at),
    );
    expect(warned).to.deep.equal([]);
  });

  it('a silent stream sends keepalive comments', async () => {
    const stream = await logs();
    await stand.time.advance(14_000);
    expect(stream.text).to.equal('');
    await tick(() => expect(stream.text).to.equal(': keepalive\n\n'));
  });

  it('streams above the maximum of an account or of the server get 503, until another ends', async () => {
    const begun = async (as: Caller, queue: string) => {
      const stream = await stand.open(`/v2/admin/queues/${queue}/statistics`, as);
      expect(stream.response.statusCode).to.equal(200);
      return stream;
    };
    const refused = async (as: Caller, queue: string) => {
      const answer = await stand.call('GET', `/v2/admin/queues/${queue}/statistics`, { as });
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1']);
    };
    const people = await Promise.all(['one', 'two', 'three'].map((name) => stand.newPerson(`${name}@example.com`)));
    const [one, two, three] = people.map(({ caller, account }) => [caller, uuidOf(account)] as const);
    assert(one !== undefined && two !== undefined && three !== undefined);
    const numbers = Array.from({ length: MAX_STREAMS_OF_ACCOUNT });
    const [first] = await Promise.all(numbers.map(() => begun(...one)));
    await refused(...one);
    await Promise.all(Array.from({ length: MAX_STREAMS - MAX_STREAMS_OF_ACCOUNT }, () => begun(...two)));
    await refused(...three);
    first?.leave();
    await eventually(() => begun(...three));
    await refused(...one);
  });

  it('an account has one audit at a time, and operators have two', async () => {
    stand.audit.isEndless = true;
    const { caller, account } = await stand.newPerson('walker@example.com');
    const theirs = `/v2/admin/queues/${uuidOf(account)}`;
    const walk = await stand.open(`${theirs}/verify`, caller);
    for (const what of ['verify', 'timeline']) {
      const answer = await stand.call('GET', `${theirs}/${what}`, { as: caller });
      expect([what, answer.status]).to.deep.equal([what, 503]);
    }
    const own = await Promise.all([stand.open('/v2/admin/verify'), stand.open('/v2/admin/verify')]);
    expect(own.map(({ response }) => response.statusCode)).to.deep.equal([200, 200]);
    walk.leave();
    stand.audit.isEndless = false;
    await eventually(async () => {
      expect((await stand.call('GET', `${theirs}/timeline`, { as: caller })).status).to.equal(200);
    });
  });

  it('a stream leaves no timer after its end', async () => {
    const stream = await logs();
    await stand.time.advance(30_000);
    expect(stand.time.pendingCount).to.be.at.most(2);
    stream.leave();
    await eventually(() => expect(stand.time.pendingCount).to.equal(0));
  });
});
