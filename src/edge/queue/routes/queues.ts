/** `/v2/queues`. */

import { IsBoolean, IsInt, Min } from 'class-validator';
import { checked, membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { filled } from '../../http/request-class.js';
import type { PathParts } from '../../http/route.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import { SET_QUEUE } from '../body-shapes.js';
import { checkedName } from '../call-filters.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { queueRecord } from '../records/resource-records.js';
import { IsResourceName } from '../requests/rules.js';

const MINUTE_MS = 60_000;
const BACKLOG_POINTS = 60;
/** The first of these may be delayed, and wait for less time than later ones. */
const OLDEST_LOOKED_AT = 100;

/** `POST /v2/queues`: creates or changes a queue. */
class SetQueueRequest {
  @IsResourceName()
  readonly queueName!: string;

  @Min(1)
  @IsInt()
  readonly parallelism!: number;

  @IsBoolean()
  readonly paused!: boolean;

  /** @throws Refused 400 */
  static from(body: unknown): SetQueueRequest {
    const members = membersOf(body);
    const usual: Readonly<Record<string, unknown>> = { parallelism: 1, paused: false };
    return checked(filled(SetQueueRequest, (name) => members.get(name) ?? usual[name]));
  }
}

export const QUEUE_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/queues', {
    summary: 'Makes or changes a queue.',
    permission: 'change',
    bodyShape: SET_QUEUE,
    example: { queueName: 'mail', parallelism: 5 },
    answer: DONE_ANSWER,
    async handle(call) {
      const { queueName, parallelism, paused } = SetQueueRequest.from(parseJson(call.body));
      await call.ask({ type: 'SetQueue', name: queueName, parallelism, isPaused: paused }, 'Done');
      call.done();
    },
  }),

  queueRoute('GET /v2/queues', {
    summary: 'Lists queues.',
    permission: 'read',
    answer: lists('Queue'),
    async handle(call) {
      const { queues } = await call.ask({ type: 'ListQueues' }, 'Queues');
      await call.list(['[', ']'], queues, queueRecord);
    },
  }),

  queueRoute('GET /v2/queues/:name', {
    summary: 'Shows a queue.',
    permission: 'read',
    answer: shows('Queue'),
    async handle(call, { path: parts }) {
      const { queues } = await call.ask({ type: 'GetQueue', name: nameIn(parts) }, 'Queues');
      call.value(200, queueRecord(only(queues)));
    },
  }),

  queueRoute('GET /v2/queues/:name/backlog', {
    summary: 'Shows how long the oldest message of a queue had waited, for each minute of the last hour.',
    permission: 'read',
    answer: shows('Backlog'),
    async handle(call, { path: parts }) {
      const queueName = nameIn(parts);
      await call.ask({ type: 'GetQueue', name: queueName }, 'Queues');
      const {
        parts: { clock, messageLog },
      } = call.endpoint;
      const nowMs = clock.nowMs();
      const momentsMs = Array.from(
        { length: BACKLOG_POINTS },
        (_, at) => nowMs - (BACKLOG_POINTS - 1 - at) * MINUTE_MS,
      );
      const waitingSinceMs = await oldestDueMs(call, queueName);
      const query = { queueName, momentsMs, waitingSinceMs };
      const backlog = await messageLog.backlog(call.grant.account, query, await call.position());
      const points = backlog.points.map(([x, y]) => ({ x, y }));
      await call.pieces([JSON.stringify({ points })], backlog);
    },
  }),

  queueRoute('DELETE /v2/queues/:name', {
    summary: 'Deletes a queue.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: parts }) {
      await call.ask({ type: 'DeleteQueue', name: nameIn(parts) }, 'Done');
      call.done();
    },
  }),

  pauseRoute('pause', 'Pauses a queue.', true),
  pauseRoute('resume', 'Resumes a queue.', false),
];

function pauseRoute(action: 'pause' | 'resume', summary: string, isPaused: boolean): QueueRoute {
  return queueRoute(`POST /v2/queues/:name/${action}`, {
    summary,
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path }) {
      await call.ask({ type: 'PauseQueue', name: nameIn(path), isPaused }, 'Done');
      call.done();
    },
  });
}

/** The instant since which the oldest message of the queue is due; the largest one for an empty queue. */
async function oldestDueMs(call: QueueCall, queueName: string): Promise<number> {
  const { messages } = await call.ask(
    {
      type: 'ListMessages',
      filter: { queueName: [queueName] },
      states: [],
      order: 'earliestFirst',
      count: OLDEST_LOOKED_AT,
      after: undefined,
    },
    'Messages',
  );
  return Math.min(Number.MAX_SAFE_INTEGER, ...messages.map((one) => Math.max(one.createdAtMs, one.notBeforeMs)));
}

/** @throws Refused 400 */
function nameIn({ name }: PathParts): string {
  return checkedName('queue name', name);
}
