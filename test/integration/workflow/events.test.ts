/** Events and webhooks that runs of the published client wait for. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { startTogether } from '../../support/together.js';
import { entriesOf } from '../../support/workflow-app.js';
import { type Flow, RUN_TIMEOUT_MS, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

const text = (base64: string) => Buffer.from(base64, 'base64').toString();
const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 };

describe('waiting for events and webhooks', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  const waitingFor = (eventId: string): Flow => {
    return (context) => context.waitForEvent('wait', eventId, { timeout: '60s' });
  };
  const waiters = (eventId: string, count: number) =>
    eventually(async () => {
      const found = await stand.client.getWaiters({ eventId });
      expect(found, `waiters of ${eventId}`).to.have.length(count);
      return found;
    }, SOON);

  for (const [title, eventData, expected] of [
    ['text', 'ü€ text', 'ü€ text'],
    ['an object', { ü: [1, null, 'x'] }, { ü: [1, null, 'x'] }],
    ['undefined', undefined, undefined],
  ] as const)
    together(`an event returns ${title}`, async () => {
      const eventId = stand.app.name('event');
      const url = stand.serve('waiting', waitingFor(eventId));
      const before = Math.floor(Date.now() / 1000);
      const id = await stand.trigger(url, { headers: { 'X-Own': 'own' } });
      const [waiter] = await waiters(eventId, 1);
      expect(waiter).to.include({ url, timeoutUrl: url });
      expect(waiter?.deadline).to.be.within(before + 60, before + 120);
      const [record] = await stand.client.notify({ eventId, eventData });
      expect(record?.waiter.url).to.equal(url);
      const { result } = await stand.ended(id);
      expect(result).to.deep.equal({ eventData: expected, timeout: false });
      const last = stand.posts(id).at(-1)!;
      expect(last.headers).to.include({ 'upstash-message-id': record?.messageId, 'x-own': 'own' });
      const { out, ...step } = JSON.parse(entriesOf(last)[1]!.body);
      expect(step).to.deep.include({
        stepId: 1,
        stepName: 'wait',
        stepType: 'Wait',
        concurrent: 1,
        waitTimeout: false,
      });
      if (typeof eventData === 'string') expect(text(out)).to.equal(eventData);
      expect(await stand.client.getWaiters({ eventId })).to.deep.equal([]);
    });

  const ODD_IDS = [
    'a/b',
    'a/',
    '/a//b/',
    'a\\b',
    'what?x=1&y',
    '50%',
    'a%2Fb',
    'a%',
    'ü€/é',
    '.hidden',
    'a..b',
    'a b',
    'x,y',
    'a:b@c',
  ];
  /** The client's URL parser changes these before they are sent. */
  const CHANGED_BY_CLIENT = new Set(['a\\b', 'a%2Fb']);
  for (const odd of ODD_IDS)
    together(`POST /v2/wait and POST /v2/notify read the event id ${JSON.stringify(odd)} alike`, async () => {
      const eventId = `${stand.app.name('event')}-${odd}`;
      const url = stand.serve('waiting', waitingFor(eventId));
      const ids = [await stand.trigger(url)];
      await waiters(eventId, 1);
      expect(await stand.client.notify({ eventId, eventData: 'by the client' })).to.have.length(1);
      if (!CHANGED_BY_CLIENT.has(odd)) {
        ids.push(await stand.trigger(url));
        await waiters(eventId, 1);
        const encoded = await fetch(`${stand.queue.url}/v2/notify/${encodeURIComponent(eventId)}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${QUEUE_TOKEN}` },
          body: 'encoded',
        });
        expect(await encoded.json()).to.have.length(1);
      }
      for (const id of ids) expect((await stand.ended(id)).result).to.include({ timeout: false });
    });

  together('an event reaches every waiting run once', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('waiting', waitingFor(eventId));
    const ids = await Promise.all([1, 2, 3].map(() => stand.trigger(url)));
    await waiters(eventId, 3);
    const told = await Promise.all([1, 2].map((eventData) => stand.client.notify({ eventId, eventData })));
    const records = told.flat();
    expect(new Set(records.map(({ messageId }) => messageId)).size).to.equal(3);
    expect(records).to.have.length(3);
    const runs = await Promise.all(ids.map((id) => stand.ended(id)));
    for (const { result } of runs) expect(result).to.deep.include({ timeout: false });
    for (const id of ids) expect(stand.posts(id)).to.have.length(2);
  });

  together('an event for one run leaves other runs waiting', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('waiting', waitingFor(eventId));
    const [first, second] = await Promise.all([stand.trigger(url), stand.trigger(url)]);
    await waiters(eventId, 2);
    const records = await stand.client.notify({ eventId, eventData: 'for one', workflowRunId: second });
    expect(records).to.have.length(1);
    expect((await stand.ended(second)).result).to.deep.equal({ eventData: 'for one', timeout: false });
    await waiters(eventId, 1);
    await stand.client.notify({ eventId, eventData: 'for all' });
    expect((await stand.ended(first)).result).to.deep.equal({ eventData: 'for all', timeout: false });
  });

  together('events for one run are stored until it waits for them, and returned in order', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('late', async (context) => {
      await context.sleep('sleep', 2);
      const found: unknown[] = [];
      for (const name of ['one', 'two']) found.push(await context.waitForEvent(name, eventId, { timeout: '60s' }));
      const [three] = await Promise.all([
        context.waitForEvent('three', eventId, { timeout: '60s' }),
        context.waitForEvent('never', `${eventId}-never`, { timeout: '1s' }),
      ]);
      return [...found, three].map((each) => (each as { eventData: unknown }).eventData);
    });
    const id = await stand.trigger(url);
    for (const eventData of ['a', 'b', 'c']) {
      expect(await stand.client.notify({ eventId, eventData, workflowRunId: id })).to.deep.equal([]);
    }
    expect((await stand.ended(id)).result).to.deep.equal(['a', 'b', 'c']);
  });

  together('an event without a waiter is not stored, nor one for an inactive run', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('late', async (context) => {
      await context.sleep('sleep', 1);
      return context.waitForEvent('wait', eventId, { timeout: 1 });
    });
    const id = await stand.trigger(url);
    expect(await stand.client.notify({ eventId, eventData: 'early' })).to.deep.equal([]);
    expect((await stand.ended(id)).result).to.deep.equal({ eventData: undefined, timeout: true });
    expect(await stand.client.notify({ eventId, eventData: 'late', workflowRunId: id })).to.deep.equal([]);
    expect(await stand.client.notify({ eventId, workflowRunId: 'wfr_unknown' })).to.deep.equal([]);
  });

  together('context.notify wakes other runs and its own', async () => {
    const eventId = stand.app.name('event with spaces');
    const waiting = stand.serve('waiting', waitingFor(eventId));
    const id = await stand.trigger(waiting);
    await waiters(eventId, 1);
    const notifying = stand.serve('notifying', async (context) => {
      const nobody = await context.notify('nobody', `${eventId}-other`, 'x');
      const stored = await context.notify('stored', `${eventId}-own`, 'kept', context.workflowRunId);
      const own = await context.waitForEvent('own', `${eventId}-own`, { timeout: '60s' });
      const told = await context.notify('told', eventId, { a: 1 });
      return { nobody, stored: stored.notifyResponse, own, told };
    });
    const { result } = await stand.run(notifying);
    expect(result).to.deep.include({
      nobody: { eventId: `${eventId}-other`, eventData: 'x', notifyResponse: [] },
      stored: [],
      own: { eventData: 'kept', timeout: false },
    });
    const { told } = result as { told: { eventData: unknown; notifyResponse: { waiter: { url: string } }[] } };
    expect(told.eventData).to.deep.equal({ a: 1 });
    expect(told.notifyResponse.map(({ waiter }) => waiter.url)).to.deep.equal([waiting]);
    expect((await stand.ended(id)).result).to.deep.equal({ eventData: { a: 1 }, timeout: false });
  });

  together('a group waits for all its events, in any order', async () => {
    const eventId = stand.app.name('event');
    const url = stand.serve('group', (context) =>
      Promise.all(
        ['a', 'b', 'c'].map((name) =>
          context.waitForEvent(name, `${eventId}-${name}`, { timeout: name === 'c' ? 1 : 60 }),
        ),
      ),
    );
    const id = await stand.trigger(url);
    for (const name of ['b', 'a']) {
      await waiters(`${eventId}-${name}`, 1);
      await stand.client.notify({ eventId: `${eventId}-${name}`, eventData: name });
    }
    expect((await stand.ended(id)).result).to.deep.equal([
      { eventData: 'a', timeout: false },
      { eventData: 'b', timeout: false },
      { eventData: undefined, timeout: true },
    ]);
    expect(stand.posts(id)).to.have.length(1 + 3 + 3);
  });

  together(
    'a webhook accepts any method, before and during the wait, in order; it is removed with its run',
    async () => {
      const hooks: string[] = [];
      const url = stand.serve('webhook', async (context) => {
        const webhook = await context.createWebhook('create');
        await context.run('told', () => void hooks.push(webhook.webhookUrl));
        await context.sleep('sleep', 2);
        const seen: unknown[] = [];
        for (const name of ['one', 'two', 'three']) {
          const { request } = await context.waitForWebhook(name, webhook, '60s');
          seen.push([request?.method, request?.url, request?.headers.get('x-hook'), await request?.text()]);
        }
        return seen;
      });
      const id = await stand.trigger(url);
      const hook = await eventually(() => {
        expect(hooks).to.have.length(1);
        return hooks[0] as string;
      }, SOON);
      expect(hook).to.match(new RegExp(`^${stand.queue.url}/v2/workflows/hooks/tests/${id}/evt_[A-Za-z0-9_-]{15}$`));
      const call = (method: string, query: string, body?: string) =>
        fetch(hook + query, { method, headers: { 'X-Hook': 'h' }, ...(body ? { body } : {}) });
      expect((await call('GET', '?n=1&a=b%20c')).ok).to.equal(true);
      expect((await call('DELETE', '', 'ü€')).ok).to.equal(true);
      await stand.arrived(id, 6);
      expect((await call('POST', '', '{"a":1}')).ok).to.equal(true);
      expect((await stand.ended(id)).result).to.deep.equal([
        ['GET', `${hook}?n=1&a=b%20c`, 'h', ''],
        ['DELETE', hook, 'h', 'ü€'],
        ['POST', hook, 'h', '{"a":1}'],
      ]);
      expect((await call('POST', '', 'late')).status).to.equal(404);
      expect((await fetch(hook.replace('/tests/', '/somebody/'), { method: 'POST' })).status).to.equal(404);
    },
  );
});
