/** Deliveries that are lost or refused: runs end with the same result, and no result is stored twice. */
import { expect } from 'chai';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { startTogether } from '../../support/together.js';
import type { Fault } from '../../support/workflow-app.js';
import { type Flow, WorkflowStand } from '../../support/workflow-stand.js';

const isFirst: Fault['of'] = ({ headers }) => headers['upstash-retried'] === '0';
const ALL: Omit<Fault, 'does'> = { times: 1000, of: isFirst };
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['the answer of every first attempt is lost', { does: 'lose', ...ALL }],
  ['every first attempt is refused', { does: 'refuse', ...ALL }],
];

describe('runs whose deliveries fail', function () {
  this.timeout(120_000);
  const stand = standOfAllTests(() => WorkflowStand.start());

  const together = startTogether();
  const CONSTRUCTS: Readonly<Record<string, { readonly flow: () => Flow; readonly result: unknown }>> = {
    'steps one after another': {
      flow: () => async (context) => {
        const seen: string[] = [];
        for (const name of ['a', 'b', 'c']) seen.push(await context.run(name, () => name));
        await context.sleep('sleep', 1);
        return seen;
      },
      result: ['a', 'b', 'c'],
    },
    'a group': {
      flow: () => (context) =>
        Promise.all([
          context.run('a', () => 'a'),
          context.sleep('b', 1),
          context.run('c', () => 'c'),
          context.waitForEvent('d', stand.app.name('never'), { timeout: 1 }),
        ]),
      result: ['a', undefined, 'c', { eventData: undefined, timeout: true }],
    },
    'a call': {
      flow: () => {
        const url = stand.sink.answer(stand.sink.path('called'), { status: 201, body: 'answered' });
        return async (context) => (await context.call('call', { url })).status;
      },
      result: 201,
    },
    'a wait, and an event that was kept': {
      flow: () => {
        const eventId = stand.app.name('event');
        return async (context) => {
          await context.notify('notify', eventId, 'd', context.workflowRunId);
          return context.waitForEvent('wait', eventId, { timeout: '60s' });
        };
      },
      result: { eventData: 'd', timeout: false },
    },
    'a webhook': {
      flow: () => async (context) => {
        const webhook = await context.createWebhook('create');
        await context.call('call', { url: webhook.webhookUrl, method: 'POST', body: 'b' });
        return (await context.waitForWebhook('wait', webhook, '60s')).request?.text();
      },
      result: 'b',
    },
  };

  for (const [fault, faulty] of FAULTS) {
    for (const [construct, { flow, result }] of Object.entries(CONSTRUCTS))
      together(`${fault}: ${construct}`, async () => {
        const url = stand.serve('faulty', flow());
        stand.app.fault(url, faulty);
        const ended = await stand.run(url, { retries: 2, retryDelay: '50' });
        expect(ended.result, stand.toldOf(ended.id)).to.deep.equal(result);
        const { steps } = await stand.logOf(ended.id, 'RUN_SUCCESS');
        const names = steps.flatMap((group) => group.steps.map((step) => (step as { stepName: string }).stepName));
        expect(new Set(names).size, `${names}`).to.equal(names.length);
      });

    together(`${fault}: a child`, async () => {
      let children = 0;
      const child = stand.invokable(async (context) => {
        await context.run('one', () => {});
        return 'of the child';
      });
      const parent = stand.invokable((context) =>
        context.invoke('invoke', { workflow: child, body: 'b', retries: 2, retryDelay: '50' }),
      );
      const urls = stand.serveMany('faulty', { parent, child });
      for (const url of Object.values(urls)) stand.app.fault(url, faulty);
      const { id, result } = await stand.run(urls.parent, { retries: 2, retryDelay: '50' });
      expect(result, stand.toldOf(id)).to.deep.include({ body: 'of the child' });
      const ids = new Set(stand.app.of(urls.child).map(({ headers }) => headers['upstash-workflow-runid']));
      children = ids.size;
      expect(children).to.equal(1);
    });
  }

  together('an endpoint that does not answer in time is called again', async () => {
    await stand.queue.account('limits', 'timeoutSeconds=1');
    const url = stand.serve('hanging', (context) => context.run('one', () => 'done'));
    stand.app.hold(url, isFirst);
    const { result } = await stand.run(url, { retries: 3, retryDelay: '1' });
    expect(result).to.equal('done');
    stand.app.release(url);
  });
});
