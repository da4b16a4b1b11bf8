/**
 * Schemas of the queue endpoint's answers, by their names in the OpenAPI document. Schemas of records are next to the
 * functions that build them.
 */
import { PENDING_STATES } from '../../domain/queue/index.js';
import { type AnswerShape, json } from '../http/answer-shape.js';
import { FLAG, INSTANT, listOf, record, schemaNamed, TEXT, WHOLE, wordOf } from '../http/openapi/parts.js';
import { RECORD_SCHEMAS } from '../records/record-schemas.js';
import { BODY_SCHEMAS } from './body-shapes.js';
import { APPLICATION_SCHEMAS } from './records/application-record.js';
import { DESTINATION_SCHEMAS } from './records/destination-record.js';
import { RESOURCE_SCHEMAS } from './records/resource-schemas.js';
import { STORY_SCHEMAS } from './records/story-schemas.js';
import { TRIGGER_SCHEMAS } from './records/trigger-record.js';
import { WORKFLOW_SCHEMAS } from './records/workflow-schemas.js';

const CURSOR = { cursor: { ...TEXT, description: 'Where the next page begins; left out: there is no more.' } };
const RUN_NAME = { workflowRunId: TEXT, workflowCreatedAt: INSTANT };

const ANSWERS = {
  /** A success without a value. */
  Done: record({}),
  Published: record({ messageId: TEXT, url: TEXT }, { deduplicated: FLAG, ...RUN_NAME }),
  Started: record({}, { ...RUN_NAME, deduplicated: FLAG }),
  ScheduleSet: record({ scheduleId: TEXT }),
  SigningKeys: record({ current: TEXT, next: TEXT }),
  Cancelled: record({ cancelled: WHOLE }),
  GlobalParallelism: record({ parallelismMax: WHOLE, parallelismCount: WHOLE }),
  Counts: record({ total: WHOLE, counts: { type: 'object', additionalProperties: WHOLE }, isWhole: FLAG }),
  Backlog: record({
    points: listOf(
      record({ x: INSTANT, y: { ...WHOLE, description: 'The age of the oldest waiting message in ms.' } }),
    ),
  }),
  Ticks: record({ cron: TEXT, ticks: listOf(INSTANT) }),
  MessagePage: record(
    {
      messages: listOf(schemaNamed('PendingMessage')),
      counts: record(Object.fromEntries(PENDING_STATES.map((state) => [state, WHOLE]))),
    },
    CURSOR,
  ),
  // Both names have the list of events, because clients read either.
  EventPage: record(
    { events: listOf(schemaNamed('LogEvent')), logs: listOf(schemaNamed('LogEvent')) },
    { messages: listOf(schemaNamed('LoggedMessage')), ...CURSOR },
  ),
  LoggedMessagePage: record({ messages: listOf(schemaNamed('LoggedMessage')) }, CURSOR),
  DeadLetterPage: record({ messages: listOf(schemaNamed('DeadLetter')) }, CURSOR),
  DlqDeleted: record({ deleted: WHOLE }, CURSOR),
  DlqRetried: record({ responses: listOf(schemaNamed('Published')) }, CURSOR),
  RunName: record(RUN_NAME),
  RunEntry: record({
    messageId: TEXT,
    body: { ...TEXT, description: 'Base64.' },
    callType: { const: 'step' },
  }),
  RunPage: record({ runs: listOf(schemaNamed('Run')) }, CURSOR),
  RunEventPage: record({ events: listOf(schemaNamed('RunEvent')) }, CURSOR),
  FailedRunPage: record({ messages: listOf(schemaNamed('FailedRun')) }, CURSOR),
  ResumedRuns: record({
    workflowRuns: listOf(schemaNamed('RunName')),
    cursor: { ...TEXT, description: 'Empty: there is no more.' },
  }),
  Reruns: record(
    {
      workflowRuns: listOf(record({ ...RUN_NAME, rerunOf: { ...TEXT, description: 'The id of the earlier run.' } })),
      refused: listOf(record({ ...RUN_NAME, error: TEXT })),
    },
    CURSOR,
  ),
  CheckedRuns: record(
    {
      runs: listOf(
        record(
          {
            ...RUN_NAME,
            workflowUrl: TEXT,
            workflowState: TEXT,
            outcome: wordOf(['compatible', 'differs', 'breaks', 'unknown']),
            differences: listOf(
              record(
                { breaks: FLAG, text: TEXT },
                { stepId: WHOLE, stepName: TEXT, stepType: TEXT, found: record({ stepName: TEXT, stepType: TEXT }) },
              ),
            ),
          },
          { reason: { ...TEXT, description: 'Why the outcome is unknown.' } },
        ),
      ),
    },
    CURSOR,
  ),
  WaitingSteps: record({ waiters: listOf(schemaNamed('WaitingStep')), total: WHOLE }, CURSOR),
};

export const QUEUE_SCHEMAS = {
  ...ANSWERS,
  ...APPLICATION_SCHEMAS,
  ...BODY_SCHEMAS,
  ...DESTINATION_SCHEMAS,
  ...RECORD_SCHEMAS,
  ...RESOURCE_SCHEMAS,
  ...STORY_SCHEMAS,
  ...TRIGGER_SCHEMAS,
  ...WORKFLOW_SCHEMAS,
};
type Name = keyof typeof QUEUE_SCHEMAS;

export const DONE_ANSWER = shows('Done');

/** @param names alternatives, if there are several */
export function shows(...names: readonly [Name, ...Name[]]): AnswerShape {
  const [first, ...others] = names;
  return json(others.length === 0 ? schemaNamed(first) : { anyOf: names.map(schemaNamed) });
}

/** A plain list without a surrounding object. */
export function lists(name: Name): AnswerShape {
  return json(listOf(schemaNamed(name)));
}
