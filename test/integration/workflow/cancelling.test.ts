/** Every way to cancel runs of the published client, and the state that remains. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { kindOf } from '../../support/workflow-app.js';
import { type Flow, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

const sleeping: Flow = async (context) => {
  await context.run('one', () => {});
  await context.sleep('sleep', '1h');
};

describe('cancelling runs', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  const asleep = async (url: string, options: Parameters<WorkflowStand['trigger']>[1] = {}) => {
    const id = await stand.trigger(url, options);
    await stand.arrived(id, 2);
    return id;
  };
  const served = (flow: Flow = sleeping) => {
    const told: unknown[] = [];
    const url = stand.serve('cancelled', flow, {
      failureFunction: async (payload) => {
        told.push(payload);
      },
    });
    return { url, told };
  };
  const expectCancelled = async (id: string) => {
    const run = await stand.logOf(id, 'RUN_CANCELED');
    expect(run.workflowRunCompletedAt).to.be.at.least(run.workflowRunCreatedAt);
    expect(run).not.to.have.any.keys('failureFunction', 'dlqId', 'workflowRunResponse');
    expect((await stand.client.dlq.list({ filter: { workflowRunId: id } })).messages).to.deep.equal([]);
    expect(stand.posts(id).map(kindOf)).not.to.include('failure');
  };

  together('by ids: cancels each active run once', async () => {
    const { url, told } = served();
    const [a, b, c] = await Promise.all([asleep(url), asleep(url), asleep(url)]);
    expect(await stand.client.cancel([a, b, 'wfr_unknown'])).to.deep.equal({ cancelled: 2 });
    expect(await stand.client.cancel([a, b, 'wfr_unknown'])).to.deep.equal({ cancelled: 0 });
    expect(await stand.client.cancel(c)).to.deep.equal({ cancelled: 1 });
    expect(await stand.client.cancel(c)).to.deep.equal({ cancelled: 0 });
    for (const id of [a, b, c]) await expectCancelled(id);
    expect(told).to.deep.equal([]);
  });

  together('by filters: URL, URL prefix, label, flow-control key, time and count', async () => {
    const flow = stand.invokable(sleeping);
    const urls = stand.serveMany('filtered', { a: flow, ab: stand.invokable(sleeping) });
    const label = stand.app.name('label');
    const flowControl = { key: stand.app.name('key'), parallelism: 5 };
    const [exact, longer] = await Promise.all([asleep(urls.a), asleep(urls.ab)]);
    const cancel = (filter: object, count?: number) =>
      stand.client.cancel({ filter, ...(count === undefined ? {} : { count }) } as Parameters<
        typeof stand.client.cancel
      >[0]);
    expect(await cancel({ workflowUrl: urls.a, label: 'other' })).to.deep.equal({ cancelled: 0 });
    expect(await cancel({ workflowUrl: urls.a })).to.deep.equal({ cancelled: 1 });
    await expectCancelled(exact);
    expect(await cancel({ workflowUrlStartingWith: urls.a })).to.deep.equal({ cancelled: 1 });
    await expectCancelled(longer);
    const [labelled, keyed] = await Promise.all([
      asleep(urls.a, { label: ['x', label] }),
      asleep(urls.a, { flowControl }),
    ]);
    expect(await cancel({ label: [label, 'nothing'] })).to.deep.equal({ cancelled: 1 });
    await expectCancelled(labelled);
    expect(await cancel({ flowControlKey: flowControl.key })).to.deep.equal({ cancelled: 1 });
    await expectCancelled(keyed);
    const before = Date.now();
    const three = await Promise.all([asleep(urls.a), asleep(urls.a), asleep(urls.a)]);
    expect(await cancel({ workflowUrl: urls.a, toDate: before - 1000 })).to.deep.equal({ cancelled: 0 });
    expect(await cancel({ workflowUrl: urls.a, fromDate: before }, 2)).to.deep.equal({ cancelled: 2 });
    expect(await cancel({ workflowUrl: urls.a, fromDate: before }, 2)).to.deep.equal({ cancelled: 1 });
    await Promise.all(three.map(expectCancelled));
  });

  together('context.cancel: ends its own run', async () => {
    const { url, told } = served(async (context) => {
      const isEnough = await context.run('one', () => true);
      if (isEnough) await context.cancel();
      await context.run('two', () => {});
    });
    const { id } = await stand.run(url);
    await expectCancelled(id);
    expect(stand.posts(id).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(told).to.deep.equal([]);
  });

  together('DELETE /v2/workflows/runs/:id cancels an active run, and answers 404 for another', async () => {
    const id = await asleep(served().url);
    expect((await stand.queue.delete(`/v2/workflows/runs/${id}`)).status).to.equal(200);
    await expectCancelled(id);
    const again = await stand.queue.delete(`/v2/workflows/runs/${id}`);
    expect(again.status).to.equal(404);
    expect(again.json).to.have.property('error');
    expect((await stand.queue.delete(`/v2/workflows/runs/${id}?cancel=true`)).status).to.equal(404);
  });

  together('during a step: the step completes, and no step follows', async () => {
    let go = () => {};
    const isUnderWay = new Promise<void>((resolve) => {
      go = resolve;
    });
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { url, told } = served(async (context) => {
      await context.run('slow', async () => {
        go();
        await finished;
      });
      await context.run('after', () => {});
    });
    const id = await stand.trigger(url, { retries: 3, retryDelay: '10' });
    await isUnderWay;
    expect(await stand.client.cancel(id)).to.deep.equal({ cancelled: 1 });
    finish();
    await eventually(() => expect(stand.posts(id)[0]?.status).to.equal(200));
    await expectCancelled(id);
    expect(stand.posts(id)).to.have.length(1);
    expect(told).to.deep.equal([]);
  });

  together('of a parent: its children continue; of a child: its parent gets isCanceled', async () => {
    const childId = stand.app.name('child');
    const child = stand.invokable(async (context) => {
      await context.waitForEvent('wait', childId, { timeout: '60s' });
      return 'done';
    });
    const parent = stand.invokable((context) =>
      context.invoke('invoke', { workflow: child, body: 'b', workflowRunId: context.headers.get('x-child') ?? '' }),
    );
    const urls = stand.serveMany('family', { parent, child });
    const invoking = async (name: string) => {
      const parentId = await stand.trigger(urls.parent, { headers: { 'X-Child': `${childId}-${name}` } });
      await eventually(async () => expect(stand.posts(`wfr_${childId}-${name}`)).to.have.length(1));
      return parentId;
    };
    const [left, told] = await Promise.all([invoking('goes-on'), invoking('cancelled')]);
    expect(await stand.client.cancel([left, `wfr_${childId}-cancelled`])).to.deep.equal({ cancelled: 2 });
    expect((await stand.ended(told)).result).to.deep.equal({ body: undefined, isCanceled: true, isFailed: false });
    await eventually(async () => expect(await stand.client.notify({ eventId: childId })).to.have.length(1));
    expect((await stand.ended(`wfr_${childId}-goes-on`)).result).to.equal('done');
    await expectCancelled(left);
    expect(stand.posts(left)).to.have.length(1);
  });

  it('with all: cancels every active run', async () => {
    const { url } = served();
    await stand.client.cancel({ all: true });
    const ids = await Promise.all([asleep(url), asleep(url)]);
    expect(await stand.client.cancel({ all: true })).to.deep.equal({ cancelled: 2 });
    await Promise.all(ids.map(expectCancelled));
    expect(await stand.client.cancel({ all: true })).to.deep.equal({ cancelled: 0 });
  });
});
