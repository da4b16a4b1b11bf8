import { expect } from 'chai';
import type { QueueCommand } from '../../../src/domain/queue/index.js';
import { SETTINGS } from '../../support/queue-spec.js';
import {
  answered,
  CHILD,
  callItem,
  entryItem,
  invokeItem,
  MARK,
  message,
  planItem,
  run,
  triggerItem,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const publish = (...items: ReturnType<typeof triggerItem>[]): QueueCommand => ({
  type: 'Publish',
  items,
  isTold: false,
});
const end = (id: string, how: 'finish' | 'cancel'): QueueCommand => ({
  type: 'EndRun',
  runId: run(id),
  how,
  response: undefined,
});
const notify = (runId?: string): QueueCommand => ({
  type: 'Notify',
  eventId: 'e',
  runId: runId === undefined ? undefined : run(runId),
  firstId: message('n'),
  content: Buffer.from('x'),
  isHook: false,
});
const outcome = (id: string, status: number): QueueCommand => ({
  type: 'RecordAttempt',
  id: message(id),
  retried: 0,
  restarts: 0,
  outcome: answered(status),
  sentBody: undefined,
});

/** A parent with a child, a call, a waiter, a stored event and a sleeping step, all without retries. */
function world(): WorkflowSpec {
  const flow = new WorkflowSpec();
  const failureCallback = { url: CHILD, settings: SETTINGS };
  flow.trigger('r', { maxRetries: 0, failureCallback });
  flow.work();
  flow.submit(invokeItem('r', 1, 'child', { maxRetries: 0, failureCallback }));
  flow.submit(callItem('r', 2), entryItem('r', 3, { delaySeconds: 60 }));
  flow.wait('r', 4, 'e');
  flow.notify('f', 'stored', 'r');
  return flow.work().skipEvents();
}

const WAIT: QueueCommand = {
  type: 'Wait',
  runId: run('r'),
  eventId: 'f',
  resultId: message('w'),
  step: { stepId: 9, targetStep: 0, concurrent: 1, stepName: 'w', stepType: 'Wait' },
  stepText: '{"stepId":9}',
  timeoutText: '1m',
  timeoutSeconds: 60,
  timeoutBody: undefined,
  onNotify: { url: CHILD, settings: SETTINGS, mark: MARK, headers: [] },
  onTimeout: { url: CHILD, settings: SETTINGS, mark: MARK, headers: [] },
};

const CASES: readonly (readonly [name: string, command: QueueCommand, events: readonly string[]])[] = [
  ['a trigger', publish(triggerItem('new')), ['run new started', 'accepted new#0 at 0']],
  ['a step', publish(entryItem('r', 5)), ['accepted r#5 at 2']],
  [
    'a group',
    publish(planItem('r', 5), planItem('r', 6), planItem('r', 7)),
    ['accepted r#p5 at 2', 'accepted r#p6 at 3', 'accepted r#p7 at 4'],
  ],
  [
    'an invoke',
    publish(invokeItem('r', 5, 'other')),
    ['run other started', 'accepted other#0 at 0', 'r step 5 invoked other'],
  ],
  ['a notify', notify(), ['r step 4 notified', 'accepted n at 2']],
  ['a notify for one run', notify('r'), ['r step 4 notified', 'accepted n at 2']],
  ['an event to be kept', notify('child'), ['e kept for child']],
  ['a wait', { ...WAIT, eventId: 'nothing yet' }, ['r waits for nothing yet']],
  [
    'a wait for an event that is kept',
    WAIT,
    ['r waits for f', 'r step 9 notified', 'f taken by r', 'accepted stored at 2'],
  ],
  ['the outcome of a call', outcome('r#c2', 200), ['accepted r#c2 result', 'delivered r#c2']],
  [
    'the end of a call without an answer',
    outcome('r#c2', 500),
    ['accepted r#c2 result', 'failed r#c2, for good', 'gave up r#c2'],
  ],
  ['a finish', end('r', 'finish'), ['run r RUN_SUCCESS', 'cancelled r#3']],
  ['a cancel', end('r', 'cancel'), ['run r RUN_CANCELED', 'cancelled r#3']],
  ["a child's finish", end('child', 'finish'), ['run child RUN_SUCCESS', 'accepted r#1 at 2']],
  [
    'a failure',
    outcome('r#0', 500),
    ['failed r#0, for good', 'dead-lettered r#0', 'run r RUN_FAILED', 'cancelled r#3', 'accepted r failure'],
  ],
  [
    "a child's failure",
    outcome('child#0', 500),
    [
      'failed child#0, for good',
      'dead-lettered child#0',
      'run child RUN_FAILED',
      'accepted child failure',
      'accepted r#1 at 2',
    ],
  ],
];

describe('workflow: commands that change several runs in one turn', () => {
  for (const [name, command, events] of CASES) {
    it(`${name}: as a whole or not at all, and the same after a crash`, () => {
      const flow = world();
      const { engine, context, journal } = flow.queue;
      const reply = engine.execute(command, context, (event) => journal.push(event));
      expect(reply, 'an immediate answer').to.have.property('type').that.does.not.equal('Rejected');
      expect(flow.news()).to.deep.equal(events);
      expect(flow.replayed().queue.digest()).to.equal(flow.queue.digest());
      expect(flow.rebuilt().queue.digest()).to.equal(flow.queue.digest());
      const again = flow.rebuilt();
      again.queue.ask(command);
      expect(again.news(), 'asked again').to.deep.equal([]);
    });
  }

  it('a timeout: the waiter is removed together with its result', () => {
    const flow = world();
    flow.queue.nowMs += 60_000;
    const { engine, context, journal } = flow.queue;
    engine.work(context, 0, (event) => journal.push(event));
    expect(flow.news()).to.deep.equal(['r step 4 timeout', 'accepted r#4 at 2']);
  });
});
