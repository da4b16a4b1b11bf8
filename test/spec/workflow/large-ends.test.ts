/** Proves WR3. */
import { expect } from 'chai';
import { planItem, published, run, WorkflowSpec } from '../../support/workflow-spec.js';

const STEPS = 500;
const later = { body: '', delaySeconds: 600, maxRetries: 0 };

/** A run with a large group, of which no step has started. */
function grouped(): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { maxRetries: 0 });
  flow.deliver('r#0');
  published(flow.submit(...Array.from({ length: STEPS }, (_, at) => planItem('r', at + 1, later))));
  return flow.work().skipEvents();
}

/** Cancels the run, without the duties that are due after that turn. @returns the events of the one turn */
function cancelled(flow: WorkflowSpec): string[] {
  const { engine, context, journal } = flow.queue;
  const command = { type: 'EndRun', runId: run('r'), how: 'cancel', response: undefined } as const;
  expect(engine.execute(command, context, (event) => journal.push(event))).to.deep.equal({ type: 'Done' });
  return flow.news();
}

function worked(flow: WorkflowSpec): string[] {
  const { engine, context, journal } = flow.queue;
  engine.work(context, 1000, (event) => journal.push(event));
  return flow.news();
}

describe('workflow: the end of a run with many messages', () => {
  it('is decided immediately, and some messages are cancelled with it', () => {
    const flow = grouped();
    const news = cancelled(flow);
    expect(news[0]).to.equal('run r RUN_CANCELED');
    expect(news.length).to.be.within(2, 100);
    expect(flow.isActive('r')).to.equal(false);
  });

  it('cancels the other messages soon after, in steps', () => {
    const flow = grouped();
    let count = cancelled(flow).length - 1;
    while (count < STEPS) {
      expect(flow.queue.engine.nextDueAtMs(flow.queue.context)).to.be.at.most(flow.queue.nowMs);
      const news = worked(flow);
      expect(news.length).to.be.within(1, 200);
      expect(news.every((one) => one.startsWith('cancelled r#p'))).to.equal(true);
      count += news.length;
      expect(flow.queue.engine.isBehind).to.equal(count < STEPS);
    }
    expect(count).to.equal(STEPS);
    expect(flow.queue.engine.nextDueAtMs(flow.queue.context) ?? Number.POSITIVE_INFINITY).to.be.above(flow.queue.nowMs);
    expect(flow.all('MessageCancelled')).to.have.length(STEPS);
  });

  it('starts none of them, even if they fall due before', () => {
    const flow = grouped();
    cancelled(flow);
    flow.pass(700_000);
    const news = flow.news();
    expect(news).to.have.length.above(300);
    expect(news.every((one) => one.startsWith('cancelled '))).to.equal(true);
  });

  for (const after of ['a crash', 'a snapshot'] as const) {
    it(`continues after ${after} in between`, () => {
      const flow = grouped();
      cancelled(flow);
      worked(flow);
      const copy = after === 'a crash' ? flow.replayed() : flow.rebuilt();
      expect(copy.queue.digest()).to.equal(flow.queue.digest());
      copy.pass(0);
      flow.pass(0);
      expect(copy.queue.digest()).to.equal(flow.queue.digest());
      copy.pass(700_000);
      expect(copy.all('AttemptStarted').filter(({ id }) => id.includes('#p'))).to.deep.equal([]);
      expect([...copy.queue.engine.rebuildingEvents()].filter(({ type }) => type === 'MessageRestored')).to.deep.equal(
        [...flow.queue.engine.rebuildingEvents()].filter(({ type }) => type === 'MessageRestored'),
      );
    });
  }

  it('does not affect another run with the same id', () => {
    const flow = grouped();
    cancelled(flow);
    flow.trigger('r', { body: 'another', id: 'again' });
    flow.queue.work();
    expect(flow.all('MessageCancelled')).to.have.length(STEPS);
    expect(flow.isActive('r')).to.equal(true);
    expect(flow.rebuilt().isActive('r')).to.equal(true);
    expect(flow.attempt('again').id).to.equal('again');
  });
});
