/** Parallel steps of the published client, one of which fails the run: the number of requests to the endpoint. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { entriesOf, kindOf, type Post } from '../../support/workflow-app.js';
import { sharedStand, UNSIGNED, type WorkflowStand } from '../../support/workflow-stand.js';

/** Above the limit of any account: the step's submission is refused at every retry. */
const TOO_MANY = 1_000_000;
const ROUNDS = 8;

/** The step that a delivery announces: that of its last entry. */
function planOf(post: Post): number[] {
  const entry = kindOf(post) === 'step' ? entriesOf(post).at(-1) : undefined;
  const { targetStep } = JSON.parse(entry?.body.startsWith('{') ? entry.body : '{}') as { targetStep?: number };
  return targetStep === undefined || targetStep === 0 ? [] : [targetStep];
}

describe('parallel steps of which one fails the run', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  const neighbours = (target: string) => (context: Parameters<Parameters<WorkflowStand['serve']>[1]>[0]) =>
    Promise.all([
      context.call('in order', { url: target, method: 'GET', retries: 0 }),
      context.call('refused', { url: target, method: 'GET', retries: TOO_MANY }),
    ]);
  const told = (url: string) => JSON.stringify(stand.app.of(url).map((post) => [kindOf(post), post.status]));

  together('two children with refused steps cause 16 requests, each once', async () => {
    const path = stand.sink.path('slow');
    const target = stand.sink.hold(path);
    const single = stand.invokable((context) => context.call('refused', { url: target, retries: TOO_MANY }), UNSIGNED);
    const parallel = stand.invokable(neighbours(target), UNSIGNED);
    const root = stand.invokable(async (context) => {
      const ids = await Promise.all(
        Object.entries({ single, parallel }).map(async ([name, workflow]) => {
          const { body } = await context.call<{ workflowRunId: string }>(name, { workflow, body: 'b', retries: 0 });
          return body.workflowRunId;
        }),
      );
      await context.sleep('sleep', 1);
      for (const id of ids)
        await context.run('failed', async () => (await stand.logOf(id, 'RUN_FAILED')).workflowState);
      return ids;
    });
    const urls = stand.serveMany('refusing', { root, single, parallel }, UNSIGNED);
    const { id, result } = await stand.run(urls.root);
    expect(result, stand.toldOf(id)).to.have.length(2);
    const counts = () => [urls.root, urls.single, urls.parallel].map((url) => stand.app.of(url).length);
    expect(counts()).to.deep.equal([10, 2, 4]);
    const [, parallelId] = result as string[];
    const messages = stand.posts(parallelId as string).map(({ headers }) => headers['upstash-message-id']);
    expect(new Set(messages).size).to.equal(3);
    // The third party's answer arrives after the end of the run.
    stand.sink.release(path);
    const call = await eventually(async () => {
      const { steps } = await stand.logOf(parallelId as string, 'RUN_FAILED');
      const group = steps.find(({ type }) => type === 'parallel');
      const states = group?.type === 'parallel' ? group.steps.map(({ state }) => state) : [];
      expect(states).to.have.members(['STEP_CANCELED', 'STEP_FAILED']);
      return states;
    });
    expect(call).to.have.length(2);
    expect(counts()).to.deep.equal([10, 2, 4]);
  });

  together('a call that is answered at the same time causes no request twice', async () => {
    const target = stand.sink.answer(stand.sink.path('fast'), { status: 200, body: 'b' });
    for (let round = 0; round < ROUNDS; round += 1) {
      const url = stand.serve('instant', neighbours(target), { failureFunction: async () => 'told' });
      const { id } = await stand.run(url, { retries: 3 });
      await stand.logOf(id, 'RUN_FAILED');
      const posts = await eventually(() => {
        const sent = stand.posts(id);
        expect(
          sent.filter((post) => kindOf(post) === 'failure' && !post.isOpen),
          told(url),
        ).to.have.length(1);
        return sent;
      });
      const messages = posts.map(({ headers }) => headers['upstash-message-id']);
      expect(new Set(messages).size, told(url)).to.equal(messages.length);
      expect(posts.map(({ headers }) => headers['upstash-retried'])).to.deep.equal(messages.map(() => '0'));
      // The refused step may be requested first, and the run may end before the request of the other one.
      const plans = posts.flatMap(planOf);
      expect(
        plans.filter((step) => step === 2),
        told(url),
      ).to.have.length(1);
      expect(new Set(plans).size, told(url)).to.equal(plans.length);
    }
  });
});
