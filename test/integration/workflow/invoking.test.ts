/** context.invoke of the published client: workflows that start others and wait for them. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { entriesOf } from '../../support/workflow-app.js';
import { type Invokable, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

/** Depth of runs that start runs: MAX_INVOKE_DEPTH. */
const DEEPEST = 100;

describe('context.invoke', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  /** A child, and a parent that has the result of its child. */
  const family = (child: Invokable, settings: object = {}) => {
    const parent = stand.invokable((context) =>
      context.invoke('invoke', { workflow: child, body: context.requestPayload, ...settings }),
    );
    return stand.serveMany('family', { parent, child });
  };

  for (const [title, value, body] of [
    ['an object', { ü: [1, null] }, { ü: [1, null] }],
    ['text', 'ü€', 'ü€'],
    ['false', false, false],
    ['undefined', undefined, undefined],
  ] as const)
    together(`of a child that returns ${title}`, async () => {
      const urls = family(stand.invokable((context) => context.run('one', () => value)));
      const { id, result } = await stand.run(urls.parent);
      expect(result).to.deep.equal({ body, isCanceled: false, isFailed: false });
      const { out } = JSON.parse(entriesOf(stand.posts(id)[1]!)[1]!.body) as { out: string };
      expect(JSON.parse(out)).to.deep.equal({
        ...(value === undefined ? {} : { body: JSON.stringify(value) }),
        isCanceled: false,
        isFailed: false,
      });
    });

  together('gives a child its own payload, headers, label, retries and flow control', async () => {
    const key = stand.app.name('key');
    let attempts = 0;
    const child = stand.invokable(async (context) => {
      const headers = await context.run('one', () => {
        attempts += 1;
        if (attempts < 3) throw new Error('not yet');
        return Object.fromEntries(context.headers);
      });
      return { payload: context.requestPayload, label: context.label, headers };
    });
    const urls = family(child, {
      headers: { 'X-Child': 'child' },
      label: ['of-the-child', 'second'],
      retries: 2,
      retryDelay: '10',
      flowControl: { key, parallelism: 1 },
    });
    const { id, result } = await stand.run(urls.parent, {
      body: { a: 1 },
      headers: { 'X-Parent': 'parent' },
      label: 'of-the-parent',
    });
    const { body } = result as { body: { payload: unknown; label: string; headers: Record<string, string> } };
    expect(body).to.deep.include({ payload: { a: 1 }, label: 'of-the-child' });
    expect(body.headers).to.include({ 'x-child': 'child' }).and.not.have.property('x-parent');
    expect(attempts).to.equal(3);
    const [post] = stand.app.of(urls.child);
    const childId = post?.headers['upstash-workflow-runid'] as string;
    const run = await stand.logOf(childId, 'RUN_SUCCESS');
    expect(run.invoker).to.include({ workflowRunId: id, workflowUrl: urls.parent });
    expect(run.labels).to.deep.equal(['of-the-child', 'second']);
    const { steps } = await stand.logOf(id, 'RUN_SUCCESS');
    expect(steps[1]?.steps[0]).to.include({
      stepType: 'Invoke',
      invokedWorkflowRunId: childId,
      invokedWorkflowUrl: urls.child,
    });
    expect(steps[1]?.steps[0]).to.have.property('invokedWorkflowCreatedAt', run.workflowRunCreatedAt);
  });

  together("of a failing child calls the child's failure function, and returns isFailed", async () => {
    const told: unknown[] = [];
    const child = stand.invokable(
      (context) =>
        context.run('fails', () => {
          throw new Error('it failed');
        }),
      {
        failureFunction: async ({ context, failResponse }) => {
          told.push([context.requestPayload, failResponse]);
        },
      },
    );
    const urls = family(child, { retries: 0 });
    const { result } = await stand.run(urls.parent, { body: 'payload' });
    expect(result).to.deep.equal({ body: undefined, isCanceled: false, isFailed: true });
    await eventually(() => expect(told).to.deep.equal([['payload', 'it failed']]));
  });

  together('works six workflows deep', async () => {
    const levels: Record<string, Invokable> = {};
    const last = 6;
    for (let level = last; level >= 0; level -= 1) {
      levels[`level${level}`] = stand.invokable(async (context) => {
        const workflow = levels[`level${level + 1}`];
        if (workflow === undefined) return context.run('deepest', () => [level]);
        const { body } = await context.invoke(`to ${level + 1}`, { workflow, body: level });
        return [level, ...(body as number[])];
      });
    }
    const urls = stand.serveMany('deep', levels);
    expect((await stand.run(urls.level0 as string)).result).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    const counts = Object.values(urls).map((url) => stand.app.of(url)[0]?.headers['upstash-workflow-invoke-count']);
    expect(counts).to.have.members([undefined, '1', '2', '3', '4', '5', '6']);
  });

  for (const [depth, isTooDeep] of [
    [DEEPEST - 1, false],
    [DEEPEST, true],
  ] as const)
    together(`from a depth of ${depth} ${isTooDeep ? 'fails the run without retries' : 'works'}`, async () => {
      const urls = family(stand.invokable((context) => context.run('one', () => 'done')));
      const id = await stand.trigger(urls.parent, {
        retries: 3,
        headers: { 'Upstash-Workflow-Invoke-Count': String(depth) },
      });
      const { result } = await stand.ended(id);
      if (!isTooDeep) {
        expect(result).to.deep.include({ body: 'done' });
        return;
      }
      // The endpoint is asked for its failure function, and answers that it has none.
      await stand.log(id, ({ workflowState, failureFunction }) => {
        expect([workflowState, failureFunction]).to.deep.equal(['RUN_FAILED', undefined]);
      });
      expect(stand.app.of(urls.parent).map(({ status }) => status)).to.deep.equal([489, 200]);
      expect(stand.app.of(urls.child)).to.deep.equal([]);
    });

  together('with the id of an active run fails the parent', async () => {
    const eventId = stand.app.name('child');
    const child = stand.invokable((context) => context.waitForEvent('wait', eventId, { timeout: '60s' }));
    const urls = family(child, { workflowRunId: eventId });
    const first = await stand.trigger(urls.parent);
    await eventually(async () => expect(await stand.client.getWaiters({ eventId })).to.have.length(1));
    const { id } = await stand.run(urls.parent, { retries: 3 });
    await stand.logOf(id, 'RUN_FAILED');
    expect(stand.posts(id)[0]?.status).to.equal(489);
    await stand.client.notify({ eventId, eventData: 'go on' });
    expect((await stand.ended(first)).result).to.deep.include({ body: { eventData: 'go on', timeout: false } });
  });

  together('runs the children of a group in parallel', async () => {
    const eventId = stand.app.name('event');
    const child = stand.invokable(async (context) => {
      const name = context.requestPayload as string;
      // Each child waits for the other one's event, so they would not end if they ran one after the other.
      const [{ timeout }] = await Promise.all([
        context.waitForEvent('wait', `${eventId}-${name}`, { timeout: '60s' }),
        context.run('notify', () =>
          eventually(
            async () => {
              const other = name === 'a' ? 'b' : 'a';
              expect(await stand.client.notify({ eventId: `${eventId}-${other}` })).to.have.length(1);
            },
            { timeoutMs: 50_000 },
          ),
        ),
      ]);
      return { name, timeout };
    });
    const parent = stand.invokable((context) =>
      Promise.all(['a', 'b'].map((body) => context.invoke(body, { workflow: child, body }))),
    );
    const urls = stand.serveMany('group', { parent, child });
    const { result } = await stand.run(urls.parent);
    expect((result as { body: unknown }[]).map(({ body }) => body)).to.deep.equal([
      { name: 'a', timeout: false },
      { name: 'b', timeout: false },
    ]);
  });
});
