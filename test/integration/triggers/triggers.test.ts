/**
 * Triggers on real processes: which changes they send, in which order, over failures of the receiver and of the
 * processes, from the past and from a snapshot. Proves TRL1, TRL3, TRL4.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { TOKEN } from '../../support/millrace-process.js';
import { QUEUE_READONLY_TOKEN, QUEUE_TOKEN, QueueProcess } from '../../support/queue-process.js';

interface KeyChange {
  readonly id: string;
  readonly key: string | null;
  readonly event: string;
  readonly operation: string;
  readonly commands?: readonly (readonly string[])[];
  readonly commandBytes?: number;
  readonly entry: number;
  readonly time: string;
  readonly before?: { readonly value?: unknown } | null;
  readonly after?: { readonly type: string; readonly value?: unknown } | null;
}
type Page = { readonly records: readonly KeyChange[]; readonly cursor: string };

const EVENTS = ['set', 'del', 'expired', 'field', 'fdel', 'push', 'json', 'flush'];
const TIMEOUT = { timeoutMs: 30_000 };
/** CI has time for seconds and hundreds; `TRIGGER_DOWN_MINUTES=30` and `TRIGGER_KEYS=1000000` are the full size. */
const DOWN_MS = Number(process.env.TRIGGER_DOWN_MINUTES ?? '0') * 60_000;
/** Between two writes of the long run, so that it has about as many changes on each machine. */
const PACE_MS = DOWN_MS === 0 ? 0 : 100;
const KEYS = Number(process.env.TRIGGER_KEYS ?? '300');
const KILLS = DOWN_MS === 0 ? 1 : 3;
const CHANGES_BETWEEN_KILLS = 20;
const MOST_RETRIES = 100;
/** Records in a page of the feed, and commands in a pipeline. */
const PAGE = 500;

describe('triggers', function () {
  this.timeout(120_000 + 2 * DOWN_MS + 20 * KEYS);
  let queue: QueueProcess;
  let path: string;
  let prefix = '';
  let numbers = 0;

  before(async () => {
    queue = await QueueProcess.start();
  });
  beforeEach(() => {
    numbers += 1;
    prefix = `t${numbers}`;
    path = queue.sink.path('changes');
  });
  after(() => queue.stop());

  const run = async (...commands: readonly (readonly string[])[]): Promise<readonly unknown[]> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify(commands);
    const answer = await fetch(`${queue.millrace.kvUrl}/pipeline`, { method: 'POST', headers, body });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return (JSON.parse(text) as { result: unknown }[]).map(({ result }) => result);
  };
  const inBatches = async (commands: readonly (readonly string[])[]): Promise<readonly unknown[]> => {
    const results: unknown[] = [];
    for (let at = 0; at < commands.length; at += PAGE) results.push(...(await run(...commands.slice(at, at + PAGE))));
    return results;
  };
  const make = async (members: object = {}): Promise<string> => {
    const body = { patterns: [`${prefix}:*`], events: EVENTS, destination: queue.sink.url(path), ...members };
    const answer = await queue.post('/v2/triggers', { body });
    expect(answer.status, answer.text).to.equal(200);
    return (answer.json as { triggerId: string }).triggerId;
  };
  const arrived = (): readonly KeyChange[] => queue.sink.calls(path).map(({ body }) => JSON.parse(body) as KeyChange);
  const until = (count: number): Promise<readonly KeyChange[]> =>
    eventually(() => {
      expect(arrived()).to.have.length.at.least(count);
      return arrived();
    }, TIMEOUT);
  const page = async (id: string, query = ''): Promise<Page> =>
    (await queue.get(`/v2/triggers/${id}/feed${query}`)).json as Page;
  const all = async (id: string): Promise<readonly KeyChange[]> => {
    const records: KeyChange[] = [];
    for (let cursor = ''; ; ) {
      const next = await page(id, `?count=${PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      if (next.records.length === 0) return records;
      records.push(...next.records);
      cursor = next.cursor;
    }
  };
  const briefly = (changes: readonly KeyChange[]) =>
    changes.map(({ event, commands }) => [event, ...(commands ?? []).flat()]);

  it('POST /v2/triggers sends sets, removals, expiries and fields of matching keys, in the order of the journal', async () => {
    await make();
    await run(['SET', `${prefix}:a`, '1'], ['SET', `other:${prefix}`, 'x'], ['HSET', `${prefix}:h`, 'f', 'v']);
    await run(['SET', `${prefix}:e`, 'z', 'PX', '50'], ['MSET', `${prefix}:b`, '2', `${prefix}:c`, '3']);
    await eventually(() => expect(arrived().at(-1)?.event).to.equal('expired'), TIMEOUT);
    await run(['DEL', `${prefix}:a`, `${prefix}:b`], ['HDEL', `${prefix}:h`, 'f']);
    const changes = await until(9);
    const key = prefix;
    const expiry = changes[2]?.commands?.[0]?.[4];
    expect(briefly(changes)).to.deep.equal([
      ['set', 'SET', `${key}:a`, '1'],
      ['field', 'HSET', `${key}:h`, 'f', 'v'],
      ['set', 'SET', `${key}:e`, 'z', 'PXAT', expiry],
      ['set', 'SET', `${key}:b`, '2'],
      ['set', 'SET', `${key}:c`, '3'],
      ['expired', 'DEL', `${key}:e`],
      ['del', 'DEL', `${key}:a`],
      ['del', 'DEL', `${key}:b`],
      ['fdel', 'HDEL', `${key}:h`, 'f'],
    ]);
    expect(changes.map(({ id }) => id)).to.deep.equal([...new Set(changes.map(({ id }) => id))]);
  });

  it('a record keeps its id and its message id at every attempt, and a later change of its key waits for it', async () => {
    queue.sink.answer(path, { status: 500 }, { status: 500 }, { status: 200 });
    await make({ options: { 'Svc-Retries': 3, 'Svc-Retry-Delay': '10', 'X-Shop': 'one' } });
    await run(['SET', `${prefix}:a`, '1'], ['SET', `${prefix}:a`, '2']);
    const changes = await until(4);
    expect(changes.map(({ commands }) => commands?.[0]?.[2])).to.deep.equal(['1', '1', '1', '2']);
    const calls = queue.sink.calls(path);
    const messageIds = calls.map(({ headers }) => headers['upstash-message-id'] ?? headers['svc-message-id']);
    expect(new Set(messageIds.slice(0, 3)).size).to.equal(1);
    expect(messageIds[3]).not.to.equal(messageIds[0]);
    expect(calls[0]?.headers).to.include({ 'content-type': 'application/json', 'x-shop': 'one' });
  });

  it('values shows the value before and after; filter selects by the new value, and removals by the old one', async () => {
    await make({ filter: "status = 'paid' AND total > 10", values: ['before', 'after'] });
    await run(
      ['JSON.SET', `${prefix}:a`, '$', '{"status":"open","total":20}'],
      ['JSON.SET', `${prefix}:a`, '$.status', '"paid"'],
      ['HSET', `${prefix}:h`, 'status', 'paid', 'total', '9'],
      ['HSET', `${prefix}:h`, 'total', '11'],
      ['SET', `${prefix}:s`, 'paid'],
      ['DEL', `${prefix}:s`],
      ['DEL', `${prefix}:a`],
    );
    const changes = await until(3);
    expect(changes.map(({ event, before, after }) => [event, before?.value, after?.value])).to.deep.equal([
      ['json', { status: 'open', total: 20 }, { status: 'paid', total: 20 }],
      ['field', { status: 'paid', total: '9' }, { status: 'paid', total: '11' }],
      ['del', { status: 'paid', total: 20 }, undefined],
    ]);
  });

  it('pause, resume and skip keep, continue and move the position; PATCH keeps it; DELETE ends the trigger and its queues', async () => {
    const id = await make();
    await run(['SET', `${prefix}:a`, '1']);
    await until(1);
    expect((await queue.post(`/v2/triggers/${id}/pause`)).json).to.include({ isPaused: true, state: 'paused' });
    await run(['SET', `${prefix}:a`, '2']);
    await eventually(async () => {
      const { json } = await queue.get(`/v2/triggers/${id}`);
      expect((json as { lagEntries: number }).lagEntries).to.be.at.least(1);
    }, TIMEOUT);
    await queue.post(`/v2/triggers/${id}/skip`, { body: { to: 'now' } });
    await run(['SET', `${prefix}:a`, '3']);
    await queue.post(`/v2/triggers/${id}/resume`);
    expect((await until(2)).at(-1)?.commands).to.deep.equal([['SET', `${prefix}:a`, '3']]);
    expect((await queue.patch(`/v2/triggers/${id}`, { body: { events: ['del'], name: 'gone' } })).status).to.equal(200);
    await run(['SET', `${prefix}:a`, '4'], ['DEL', `${prefix}:a`]);
    expect((await until(3)).at(-1)?.event).to.equal('del');
    await eventually(async () => {
      const { json } = await queue.get('/v2/triggers');
      const listed = (json as { triggerId: string; name: string; lagSeconds: number }[]).find(
        ({ triggerId }) => triggerId === id,
      );
      expect(listed).to.include({ name: 'gone', lagSeconds: 0 });
    }, TIMEOUT);
    expect((await queue.delete(`/v2/triggers/${id}`)).status).to.equal(200);
    expect((await queue.get(`/v2/triggers/${id}`)).status).to.equal(404);
    const { json } = await queue.get('/v2/queues');
    expect((json as { name: string }[]).filter(({ name }) => name.includes(id))).to.deep.equal([]);
  });

  it('POST /v2/triggers refuses wrong patterns, events, filters, destinations, options and moments', async () => {
    const refused = async (members: object): Promise<string> => {
      const body = { patterns: ['a:*'], events: ['set'], destination: queue.sink.url(path), ...members };
      const { status, json } = await queue.post('/v2/triggers', { body });
      expect(status).to.be.oneOf([400, 404]);
      return (json as { error: string }).error;
    };
    expect(await refused({ patterns: [] })).to.contain('patterns');
    expect(await refused({ patterns: ['x*'.repeat(600)] })).to.contain('pattern is too long');
    expect(await refused({ events: ['sett'] })).to.contain('events');
    expect(await refused({ filter: 'status = ' })).to.contain('filter');
    expect(await refused({ destination: 'ftp://x' })).to.contain('destination');
    expect(await refused({ destination: { url: queue.sink.url(path), workflow: 'http://x' } })).to.contain(
      'destination',
    );
    expect(await refused({ options: { 'Svc-Retries': 'many' } })).to.contain('retries');
    expect(await refused({ from: '2120-01-01' })).to.contain('must not be in the future');
    expect(await refused({ from: 'yesterday' })).to.contain('from: must be now, snapshot or an instant');
    expect(await refused({ database: 'none' })).to.contain('database none');
    expect(await refused({ color: 1 })).to.contain('unknown member color');
    const body = { patterns: ['a:*'], events: ['set'], destination: queue.sink.url(path) };
    expect((await queue.post('/v2/triggers', { body, token: QUEUE_READONLY_TOKEN })).status).to.equal(403);
  });

  it('GET …/feed has the same records as pages and as events, and continues after a cursor and Last-Event-ID', async () => {
    const id = await make();
    await run(['SET', `${prefix}:a`, '1'], ['MSET', `${prefix}:b`, '2', `${prefix}:c`, '3'], ['FLUSHALL']);
    const delivered = await until(4);
    const first = await page(id, '?count=2');
    const rest = await page(id, `?cursor=${encodeURIComponent(first.cursor)}`);
    expect([...first.records, ...rest.records]).to.deep.equal(delivered);
    expect((await page(id, `?cursor=${encodeURIComponent(rest.cursor)}`)).records).to.deep.equal([]);
    const streamed = await fetch(`${queue.url}/v2/triggers/${id}/feed`, {
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, accept: 'text/event-stream', 'last-event-id': first.cursor },
    });
    const reader = (streamed.body as ReadableStream<Uint8Array>).getReader();
    await run(['SET', `${prefix}:d`, '4']);
    let text = '';
    while ((text.match(/^data: /gm) ?? []).length < 3)
      text += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    const events = [...text.matchAll(/^id: (.*)\nevent: change\ndata: (.*)$/gm)];
    expect(events.map(([, , data]) => JSON.parse(data as string))).to.deep.equal((await until(5)).slice(2));
    expect((await page(id, `?cursor=${encodeURIComponent(events[1]?.[1] ?? '')}`)).records).to.have.length(1);
    expect((await queue.get(`/v2/triggers/${id}/feed?cursor=KV_99:1`)).status).to.equal(400);
  });

  it('a receiver that is down over a kill of the process gets every change of the journal once, in order by key', async () => {
    const started = new Date().toISOString();
    queue.sink.answer(path, { status: 503 });
    const retryMs = Math.max(200, Math.ceil((2 * DOWN_MS) / MOST_RETRIES));
    const id = await make({ options: { 'Svc-Retries': MOST_RETRIES, 'Svc-Retry-Delay': `${retryMs}` }, lanes: 16 });
    const written: string[] = [];
    for (let kills = 0; kills <= KILLS; kills += 1) {
      const endsAtMs = Date.now() + DOWN_MS / (KILLS + 1);
      for (let n = 0; n < CHANGES_BETWEEN_KILLS || Date.now() < endsAtMs; n += 1) {
        const key = `${prefix}:${n % 7}`;
        await run(['SET', key, `${kills}-${n}`], ['INCR', `n:${prefix}`]);
        written.push(`${key} ${kills}-${n}`);
        if (PACE_MS > 0) await pause(PACE_MS);
      }
      if (kills < KILLS) await queue.restart('SIGKILL');
    }
    const refused = arrived().length;
    queue.sink.answer(path, { status: 200 });
    const distinct = () =>
      new Map(
        arrived()
          .slice(refused)
          .map((change) => [change.id, change]),
      );
    const timeoutMs = 60_000 + 2 * retryMs + written.length * 100;
    await eventually(() => expect(distinct().size).to.equal(written.length), { timeoutMs, everyMs: 200 });
    const exported = await all(id);
    expect(exported.map(({ commands }) => commands?.[0]?.slice(1).join(' '))).to.deep.equal(written);
    expect([...distinct().keys()].sort()).to.deep.equal(exported.map((change) => change.id).sort());
    for (let n = 0; n < 7; n += 1) {
      const of = (changes: Iterable<KeyChange>) =>
        [...changes].filter(({ key }) => key === `${prefix}:${n}`).map((change) => change.id);
      expect(of(distinct().values())).to.deep.equal(of(exported));
    }
    const again = queue.sink.path('again');
    await make({ from: started, destination: queue.sink.url(again) });
    const calls = await queue.sink.arrived(again, written.length, timeoutMs);
    const ids = calls.map(({ body }) => (JSON.parse(body) as KeyChange).id);
    expect(ids).to.deep.equal(exported.map((change) => change.id));
  });

  it('from snapshot sends all keys, then the changes, so that a copy equals the database', async () => {
    const keys = Array.from({ length: KEYS }, (_, n) => `${prefix}:${n}`);
    const isHash = (n: number) => n % 3 === 0;
    await inBatches(keys.map((key, n) => (isHash(n) ? ['HSET', key, 'n', String(n)] : ['SET', key, String(n)])));
    let isOver = false;
    let writes = 0;
    const writing = (async () => {
      while (!isOver) {
        const n = (writes * 31) % keys.length;
        const key = keys[n] as string;
        const other = writes % 5 === 0 ? ['DEL', key] : ['SET', key, `w${writes}`];
        await run(isHash(n) ? ['HSET', key, 'n', `w${writes}`] : other);
        writes += 1;
      }
    })();
    await make({ from: 'snapshot', options: { 'Svc-Retries': 3 }, lanes: 16 });
    const calls = () => queue.sink.calls(path);
    const soon = { timeoutMs: 60_000 + KEYS * 5, everyMs: 100 };
    await eventually(() => expect(calls()).to.have.length.at.least(KEYS / 3), soon);
    isOver = true;
    await writing;
    const stored = await inBatches(keys.map((key, n) => (isHash(n) ? ['HGET', key, 'n'] : ['GET', key])));
    const copy = new Map<string, string>();
    const seen = new Set<string>();
    let applied = 0;
    await eventually(() => {
      for (; applied < calls().length; applied += 1) {
        const { id, commands = [] } = JSON.parse(calls()[applied]?.body ?? '') as KeyChange;
        for (const [name, key = '', field, value] of seen.has(id) ? [] : commands) {
          if (name === 'DEL') copy.delete(key);
          else copy.set(key, (name === 'HSET' ? value : field) ?? '');
        }
        seen.add(id);
      }
      expect(keys.findIndex((key, n) => (copy.get(key) ?? null) !== stored[n])).to.equal(-1);
    }, soon);
  });
});
