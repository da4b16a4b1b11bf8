/** Parallel steps of which one fails the run: the state of the others at that moment. */
import { expect } from 'chai';
import { answered, callItem, OVER, planItem, WorkflowSpec } from '../../support/workflow-spec.js';

const GROUP = { concurrent: 2 };
const NO_RETRY = answered(489, [['Svc-NonRetryable-Error', 'true']]);

/** A run with both members of a group announced, and their deliveries started. */
function begun(): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { maxRetries: 3 });
  flow.attempt('r#0');
  flow.submit(planItem('r', 1, GROUP), planItem('r', 2, GROUP));
  flow.deliver('r#0').work();
  return flow.skipEvents();
}

/** Longer than any retry takes. */
const LATER_MS = 30 * 24 * 3600 * 1000;

describe('workflow: siblings of a step that fails the run', () => {
  for (const [end, answer] of [
    ['succeeds', answered(200)],
    ['fails too', answered(500)],
    ['is refused for good too', NO_RETRY],
  ] as const) {
    it(`a sibling that ${end} in the same instant is not delivered again`, () => {
      for (const [first, second] of [
        ['r#p1', 'r#p2'],
        ['r#p2', 'r#p1'],
      ] as const) {
        const flow = begun();
        flow.queue.outcome(flow.idOf(first), NO_RETRY);
        flow.queue.outcome(flow.idOf(second), answer);
        flow.pass(LATER_MS).work();
        expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
        expect(flow.all('RunEnded')).to.have.length(1);
      }
    });

    it(`a sibling that ${end} just before is not delivered again`, () => {
      const flow = begun();
      flow.queue.outcome(flow.idOf('r#p1'), answer);
      if (flow.isActive('r')) flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
      flow.pass(LATER_MS).work();
      expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
    });
  }

  it('a submission of a sibling in the same instant is refused as over, and none of it starts', () => {
    const flow = begun();
    flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
    expect(flow.submit(callItem('r', 1, GROUP))).to.deep.equal(OVER);
    flow.work();
    expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
  });

  it('the outcome of a sibling’s call, started and not sent yet, is recognised as that of an ended run', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, GROUP));
    flow.deliver('r#p1').deliver('r#c1').work();
    const result = flow.idOf('r#c1 result');
    const { engine } = flow.queue;
    expect(engine.attemptOf(result), 'it is started').to.not.equal(undefined);
    expect(engine.isOfEndedRun(result)).to.equal(false);
    flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
    expect(engine.isOfEndedRun(result)).to.equal(true);
    expect(engine.isOfEndedRun(flow.idOf('r#0')), 'it has been delivered').to.equal(false);
  });

  it('a delivery that was dropped because its run ended does not count as one to be retried', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, GROUP));
    flow.deliver('r#p1').deliver('r#c1').work();
    flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
    flow.skipEvents().miss('r#c1 result');
    expect(flow.news()).to.deep.equal(['failed r#c1 result, for good', 'cancelled r#c1 result']);
    flow.pass(LATER_MS).work();
    expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
  });
});
