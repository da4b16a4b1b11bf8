/** Runs that begin with the results of other runs, on the published client's endpoint. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { type Flow, RUN_TIMEOUT_MS, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

describe('POST /v2/workflows/runs/<id>/rerun', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });
  const together = startTogether();

  /** Starts the run that the call describes. @returns its result */
  const rerun = async (id: string, body: object): Promise<unknown> => {
    const { status, json } = await stand.queue.request('POST', `/v2/workflows/runs/${id}/rerun`, { body });
    expect(status, JSON.stringify(json)).to.equal(200);
    return (await stand.ended((json as { workflowRunId: string }).workflowRunId)).result;
  };
  /** Counts the executions of each step. */
  const counting = () => {
    const calls: Record<string, number> = {};
    const count = (name: string) => {
      calls[name] = (calls[name] ?? 0) + 1;
      return calls[name];
    };
    return { calls, count };
  };

  together('executes the named step and those after it, with the results of the steps before', async () => {
    const { calls, count } = counting();
    const flow: Flow = async (context) => {
      const price = await context.run('price', () => ({ price: 7, times: count('price') }));
      const charge = await context.run('charge', () => count('charge'));
      const mail = await context.run('mail', () => count('mail'));
      return { price, charge, mail, payload: context.requestPayload };
    };
    const { id, result } = await stand.run(stand.serve('rerun', flow), { body: { order: 1 } });
    expect(result).to.deep.equal({ price: { price: 7, times: 1 }, charge: 1, mail: 1, payload: { order: 1 } });
    expect(await rerun(id, { fromStep: 'charge' })).to.deep.equal({
      price: { price: 7, times: 1 },
      charge: 2,
      mail: 2,
      payload: { order: 1 },
    });
    expect(await rerun(id, { fromStep: 'charge', input: { order: 2 }, stepResult: 'paid by hand' })).to.deep.equal({
      price: { price: 7, times: 1 },
      charge: 'paid by hand',
      mail: 3,
      payload: { order: 2 },
    });
    expect(await rerun(id, { fromStep: 0 })).to.deep.include({ price: { price: 7, times: 2 }, charge: 3 });
    expect(calls).to.deep.equal({ price: 2, charge: 3, mail: 4 });
  });

  together('keeps the results of the other members of a parallel group', async () => {
    const { calls, count } = counting();
    const flow: Flow = async (context) => {
      const both = await Promise.all([
        context.run('left', () => count('left')),
        context.run('right', () => count('right')),
      ]);
      return { both, end: await context.run('end', () => count('end')) };
    };
    const { id } = await stand.run(stand.serve('rerun-parallel', flow));
    expect(await rerun(id, { fromStep: 'right' })).to.deep.equal({ both: [1, 2], end: 2 });
    expect(calls).to.deep.equal({ left: 1, right: 2, end: 2 });
  });

  together('takes events, calls and children of the earlier run as they were', async () => {
    const { calls, count } = counting();
    const event = stand.app.name('paid');
    const flow: Flow = async (context) => {
      const { eventData } = await context.waitForEvent('paid', event, { timeout: '1h' });
      const { status } = await context.call('ask', { url: stand.sink.url('/asked'), method: 'POST' });
      await context.sleep('short', 1);
      return { eventData, status, end: await context.run('end', () => count('end')) };
    };
    const id = await stand.trigger(stand.serve('rerun-waits', flow));
    await eventually(
      async () => {
        const [notified] = (await stand.client.notify({ eventId: event, eventData: { euros: 5 } })) ?? [];
        expect(notified).to.not.equal(undefined);
      },
      { timeoutMs: RUN_TIMEOUT_MS, everyMs: 100 },
    );
    const { result } = await stand.ended(id);
    expect(result).to.deep.equal({ eventData: { euros: 5 }, status: 200, end: 1 });
    expect(await rerun(id, { fromStep: 'end' })).to.deep.equal({ eventData: { euros: 5 }, status: 200, end: 2 });
    expect(await rerun(id, { fromStep: 'paid', stepResult: { euros: 9 } })).to.deep.include({
      eventData: { euros: 9 },
    });
    expect(calls.end).to.equal(3);
  });

  together('repairs the failed runs that a filter meets, at another endpoint', async () => {
    const broken: Flow = async (context) => {
      const one = await context.run('one', () => 'kept');
      await context.run('two', () => {
        throw new Error('it failed');
      });
      return one;
    };
    const mended: Flow = async (context) => {
      const one = await context.run('one', () => 'executed again');
      return { one, two: await context.run('two', () => 'mended') };
    };
    const url = stand.serve('rerun-broken', broken);
    const ids = [(await stand.run(url)).id, (await stand.run(url)).id];
    await Promise.all(ids.map((id) => stand.logOf(id, 'RUN_FAILED')));
    const body = { workflowUrl: url, state: 'RUN_FAILED', fromStep: 2, url: stand.serve('rerun-mended', mended) };
    const { json } = await stand.queue.request('POST', '/v2/workflows/runs/rerun', { body });
    const { workflowRuns, refused } = json as { workflowRuns: { workflowRunId: string }[]; refused: unknown[] };
    expect([workflowRuns.length, refused]).to.deep.equal([2, []]);
    for (const { workflowRunId } of workflowRuns) {
      expect((await stand.ended(workflowRunId)).result).to.deep.equal({ one: 'kept', two: 'mended' });
    }
  });
});
