/** Parallel steps of which one fails the run: what becomes of the others in that instant. */
import { expect } from 'chai';
import { answered, callItem, OVER, planItem, WorkflowSpec } from '../../support/workflow-spec.js';

const GROUP = { concurrent: 2 };
const NO_RETRY = answered(489, [['Svc-NonRetryable-Error', 'true']]);

/** Both members of a group are announced, and their deliveries are on their way. */
function begun(): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { maxRetries: 3 });
  flow.attempt('r#0');
  flow.submit(planItem('r', 1, GROUP), planItem('r', 2, GROUP));
  flow.deliver('r#0').work();
  return flow.forgetNews();
}

/** Whatever could still be due. */
const LATER_MS = 30 * 24 * 3600 * 1000;

describe('workflow: neighbours of a step that fails the run', () => {
  for (const [what, answer] of [
    ['succeeds', answered(200)],
    ['fails too', answered(500)],
    ['is refused for good too', NO_RETRY],
  ] as const) {
    it(`a sibling that ${what} in the same instant is not delivered again`, () => {
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

    it(`a sibling that ${what} just before is not delivered again`, () => {
      const flow = begun();
      flow.queue.outcome(flow.idOf('r#p1'), answer);
      if (flow.isActive('r')) flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
      flow.pass(LATER_MS).work();
      expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
    });
  }

  it('what a sibling brings in the same instant is refused as over, and nothing of it is started', () => {
    const flow = begun();
    flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
    expect(flow.submit(callItem('r', 1, GROUP))).to.deep.equal(OVER);
    flow.work();
    expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
  });

  it('the outcome of a sibling’s call, started and not sent yet, is known to be of a run that is over', () => {
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

  it('a delivery that was left out for the end of its run counts as none that is tried again', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, GROUP));
    flow.deliver('r#p1').deliver('r#c1').work();
    flow.queue.outcome(flow.idOf('r#p2'), NO_RETRY);
    flow.forgetNews().miss('r#c1 result');
    expect(flow.news()).to.deep.equal(['failed r#c1 result, for good', 'cancelled r#c1 result']);
    flow.pass(LATER_MS).work();
    expect(flow.news().filter((news) => news.startsWith('started'))).to.deep.equal([]);
  });
});
