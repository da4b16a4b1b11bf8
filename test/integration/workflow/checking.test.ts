/** Checks of changed workflows of the published client, against runs of the unchanged ones. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { type Flow, RUN_TIMEOUT_MS, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

interface Difference {
  readonly stepId?: number;
  readonly stepName?: string;
  readonly breaks: boolean;
  readonly text: string;
}

interface CheckedRun {
  readonly workflowRunId: string;
  readonly outcome: string;
  readonly differences: readonly Difference[];
  readonly reason?: string;
}

describe('POST /v2/workflows/check', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });
  const together = startTogether();

  const check = (body: object): Promise<CheckedRun[]> =>
    eventually(
      async () => {
        const { status, json } = await stand.queue.request('POST', '/v2/workflows/check', { body });
        expect(status, JSON.stringify(json)).to.equal(200);
        return (json as { runs: CheckedRun[] }).runs;
      },
      { timeoutMs: RUN_TIMEOUT_MS, everyMs: 100 },
    );
  /** The check of one run. */
  const checked = async (workflowRunId: string, flow: Flow, more: object = {}): Promise<CheckedRun> => {
    const [run, ...others] = await check({ url: stand.serve('checked', flow), workflowRunId, ...more });
    expect(others).to.deep.equal([]);
    return run as CheckedRun;
  };
  const shown = ({ outcome, differences, reason }: CheckedRun) => ({
    outcome,
    steps: differences.map(({ stepName, breaks }) => (breaks ? stepName : `${stepName} differs`)),
    ...(reason === undefined ? {} : { reason }),
  });

  together(
    'shows the step of a finished run that a new version renames, removes, reorders or makes another kind',
    async () => {
      let executed = 0;
      const step = (context: Parameters<Flow>[0], name: string) => context.run(name, () => (executed += 1));
      const path = stand.sink.path('charged');
      const sink = stand.sink.url(path);
      const original: Flow = async (context) => {
        await step(context, 'price');
        await context.call('charge', { url: sink, method: 'POST' });
        await context.sleep('pause', 1);
        await step(context, 'mail');
      };
      const { id } = await stand.run(stand.serve('check-steps', original));
      await stand.logOf(id, 'RUN_SUCCESS');
      const executedBefore = executed;
      const compatible = { outcome: 'compatible', steps: [] };
      expect(shown(await checked(id, original))).to.deep.equal(compatible);
      const longer: Flow = async (context) => {
        await original(context);
        await step(context, 'thank');
      };
      expect(shown(await checked(id, longer)), 'a step is added at the end').to.deep.equal(compatible);
      const breaking = (name: string) => ({ outcome: 'breaks', steps: [name] });
      const renamed: Flow = async (context) => {
        await step(context, 'price');
        await context.call('charge card', { url: sink, method: 'POST' });
        await context.sleep('pause', 1);
        await step(context, 'mail');
      };
      const one = await checked(id, renamed);
      expect(shown(one)).to.deep.equal(breaking('charge'));
      expect(one.differences[0]).to.include({ stepId: 2, stepType: 'Call' });
      expect(one.differences[0]?.text).to.include("'charge card'");
      const removed: Flow = async (context) => {
        await step(context, 'price');
        await context.sleep('pause', 1);
        await step(context, 'mail');
      };
      expect(shown(await checked(id, removed))).to.deep.equal(breaking('charge'));
      const shortened: Flow = async (context) => {
        await step(context, 'price');
        await context.call('charge', { url: sink, method: 'POST' });
      };
      expect(shown(await checked(id, shortened))).to.deep.equal(breaking('pause'));
      const reordered: Flow = async (context) => {
        await step(context, 'price');
        await context.call('charge', { url: sink, method: 'POST' });
        await step(context, 'mail');
        await context.sleep('pause', 1);
      };
      expect(shown(await checked(id, reordered))).to.deep.equal(breaking('pause'));
      const otherKind: Flow = async (context) => {
        await step(context, 'price');
        await step(context, 'charge');
        await context.sleep('pause', 1);
        await step(context, 'mail');
      };
      expect(shown(await checked(id, otherKind))).to.deep.equal(breaking('charge'));
      const otherUrl: Flow = async (context) => {
        await step(context, 'price');
        await context.call('charge', { url: stand.sink.url('/other'), method: 'POST' });
        await context.sleep('pause', 1);
        await step(context, 'mail');
      };
      const differing = await checked(id, otherUrl);
      expect(shown(differing)).to.deep.equal({ outcome: 'differs', steps: ['charge differs'] });
      expect(differing.differences[0]?.text).to.equal(
        `the endpoint calls ${stand.sink.url('/other')} instead of ${sink}`,
      );
      const failing: Flow = async (context) => {
        await step(context, 'price');
        throw new Error('the new version is broken');
      };
      const failed = await checked(id, failing);
      expect(failed.outcome).to.equal('breaks');
      expect(failed.differences[0]?.text).to.include('the new version is broken');
      expect(executed, 'steps executed by checks').to.equal(executedBefore);
      expect(stand.sink.calls(path).length, 'calls, with that of the run').to.equal(1);
    },
  );

  together('shows the parallel steps of a run that a new version changes', async () => {
    const path = stand.sink.path('parallel');
    const flowOf =
      (names: readonly string[], url = stand.sink.url(path), isCall = true): Flow =>
      async (context) => {
        await Promise.all(
          names.map((name, at) =>
            at === 0 && isCall ? context.call(name, { url, method: 'POST' }) : context.run(name, () => at),
          ),
        );
        await context.run('end', () => 'ended');
      };
    const { id } = await stand.run(stand.serve('check-parallel', flowOf(['a', 'b', 'c'])));
    await stand.logOf(id, 'RUN_SUCCESS');
    expect(shown(await checked(id, flowOf(['a', 'b', 'c'])))).to.deep.equal({ outcome: 'compatible', steps: [] });
    const breaks = { outcome: 'breaks', steps: ['a'] };
    expect(shown(await checked(id, flowOf(['a', 'b']))), 'a member is removed').to.deep.equal(breaks);
    expect(shown(await checked(id, flowOf(['a', 'x', 'c']))), 'a member is renamed').to.deep.equal(breaks);
    expect(shown(await checked(id, flowOf(['b', 'a', 'c'], '', false))), 'reordered').to.deep.equal(breaks);
    const other = stand.sink.url(stand.sink.path('other'));
    const differs = await checked(id, flowOf(['a', 'b', 'c'], other));
    expect(shown(differs)).to.deep.equal({ outcome: 'differs', steps: ['a differs'] });
    expect(stand.sink.calls(path).length, 'calls, with that of the run').to.equal(1);
  });

  together('shows the step for which a run is waiting, if a new version changes it', async () => {
    const event = stand.app.name('paid');
    const flowOf =
      (name: string, isWait = true): Flow =>
      async (context) => {
        await context.run('one', () => 1);
        if (isWait) await context.waitForEvent(name, event, { timeout: '1h' });
        else await context.sleep(name, '1h');
        await context.run('last', () => 2);
      };
    const id = await stand.trigger(stand.serve('check-waiting', flowOf('paid')));
    await stand.log(id, ({ steps }) => expect(JSON.stringify(steps)).to.include('"stepName":"paid"'));
    expect(shown(await checked(id, flowOf('paid')))).to.deep.equal({ outcome: 'compatible', steps: [] });
    const breaks = { outcome: 'breaks', steps: ['paid'] };
    expect(shown(await checked(id, flowOf('settled'))), 'renamed').to.deep.equal(breaks);
    expect(shown(await checked(id, flowOf('paid', false))), 'another kind').to.deep.equal(breaks);
    const ended = await checked(id, (context) => context.run('one', () => 1));
    expect(shown(ended), 'it ends before').to.deep.equal(breaks);
    expect(await stand.client.getWaiters({ eventId: event }), 'waits of checks').to.have.length(1);
  });

  together('shows a step that invokes another workflow than the recorded one, and starts none', async () => {
    let children = 0;
    const child = stand.invokable(async (context) => context.run('work', () => (children += 1)));
    const parent = stand.invokable(async (context) => {
      await context.invoke('deliver', { workflow: child, body: {} });
      await context.run('end', () => 'ended');
    });
    const { id } = await stand.run(stand.serveMany('check-invoking', { child, parent }).parent);
    await stand.logOf(id, 'RUN_SUCCESS');
    const [same] = await check({ url: stand.serveMany('same', { child, parent }).parent, workflowRunId: id });
    expect(same && shown(same)).to.deep.equal({ outcome: 'compatible', steps: [] });
    const { parent: url } = stand.serveMany('other', { courier: child, parent });
    const [other] = await check({ url, workflowRunId: id });
    expect(other && shown(other)).to.deep.equal({ outcome: 'differs', steps: ['deliver differs'] });
    expect(children).to.equal(1);
  });

  together('executes the code of steps only with executeSteps', async () => {
    const executed: string[] = [];
    const flow: Flow = async (context) => {
      for (const name of ['one', 'two']) await context.run(name, () => void executed.push(name));
    };
    const { id } = await stand.run(stand.serve('check-executing', flow));
    await stand.logOf(id, 'RUN_SUCCESS');
    executed.length = 0;
    expect((await checked(id, flow)).outcome).to.equal('compatible');
    expect(executed).to.deep.equal([]);
    expect((await checked(id, flow, { executeSteps: true })).outcome).to.equal('compatible');
    expect(executed).to.deep.equal(['one', 'two']);
  });

  together('names runs whose endpoint does not answer for them', async () => {
    const flow: Flow = (context) => context.run('one', () => 1);
    const { id } = await stand.run(stand.serve('check-unknown', flow));
    await stand.logOf(id, 'RUN_SUCCESS');
    const silent = stand.sink.url(stand.sink.path('silent'));
    const [run] = await check({ url: silent, workflowRunId: id });
    expect(run).to.deep.include({ outcome: 'unknown', differences: [] });
    expect(run?.reason).to.equal(
      'the endpoint answered 200, but made no request to this server: is its server URL this one?',
    );
  });
});
