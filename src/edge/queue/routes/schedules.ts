/** `/v2/schedules`. */

import { newScheduleId, parseCron, ticksBetween } from '../../../domain/queue/index.js';
import type { ScheduleId } from '../../../kernel/index.js';
import { anyBody } from '../../http/body-shape.js';
import { pathParameter } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import type { PathParts } from '../../http/route.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import { checkedName, countOf, periodOf, queryParameters, single } from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { rawSettingsOf } from '../call-words.js';
import { destinationInPath } from '../destination.js';
import { withTrace } from '../message-trace.js';
import { checkedDestination, settingsOf } from '../publish-items.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { DEFAULT_TICKS, MAX_TICKS } from '../queue-limits.js';
import { scheduleRecord } from '../records/schedule-record.js';
import { OTHER_HEADERS, SCHEDULE_HEADERS } from '../setting-headers.js';

const SCHEDULES = '/v2/schedules/';
const SCHEDULED = pathParameter('id', 'The destination: a URL, or the name of a URL group.');
const OF_TICKS: ReadonlySet<string> = new Set(['cron', 'fromDate', 'toDate', 'count']);

export const SCHEDULE_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/schedules', {
    summary: 'Lists schedules.',
    permission: 'read',
    answer: lists('Schedule'),
    async handle(call) {
      const { schedules } = await call.ask({ type: 'ListSchedules' }, 'Schedules');
      await call.list(['[', ']'], schedules, ({ schedule, content }) =>
        scheduleRecord(schedule, content, call.spellingFor(schedule.isAlias)),
      );
    },
  }),

  queueRoute('GET /v2/ticks', {
    summary: 'Tells when a timetable would tick next.',
    permission: 'read',
    parameters: filterParameters(OF_TICKS),
    sample: { query: { cron: '0 8 * * *', count: '3' } },
    answer: shows('Ticks'),
    handle(call) {
      const parameters = queryParameters(call.words.rest, OF_TICKS);
      const timetable = parseCron(single(parameters, 'cron') ?? '');
      if (!timetable.isOk) throw invalid(timetable.message);
      const count = countOf(parameters, MAX_TICKS) ?? DEFAULT_TICKS;
      const { fromMs = call.endpoint.parts.clock.nowMs(), toMs = Number.POSITIVE_INFINITY } = periodOf(parameters);
      call.value(200, { cron: timetable.cron, ticks: ticksBetween(timetable.cron, { fromMs, toMs, count }) });
    },
  }),

  queueRoute('GET /v2/schedules/:id', {
    summary: 'Shows a schedule.',
    permission: 'read',
    answer: shows('Schedule'),
    async handle(call, { path: parts }) {
      const { schedules } = await call.ask({ type: 'GetSchedule', id: idIn(parts) }, 'Schedules');
      const { schedule, content } = only(schedules);
      call.value(200, scheduleRecord(schedule, content, call.spellingFor(schedule.isAlias)));
    },
  }),

  queueRoute('DELETE /v2/schedules/:id', {
    summary: 'Deletes a schedule.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: parts }) {
      await call.ask({ type: 'DeleteSchedule', id: idIn(parts) }, 'Done');
      call.done();
    },
  }),

  pauseRoute('pause', 'Pauses a schedule.', true),
  pauseRoute('resume', 'Resumes a schedule.', false),
  // The document has one path for both; the method decides the meaning of the last part.
  queueRoute('POST /v2/schedules/*id?', {
    summary: 'Makes or changes a schedule.',
    permission: 'change',
    bodyBound: 'message',
    description: `The path ends with the destination of the messages. A call with the \`Svc-Schedule-Id\` of a schedule replaces it.\n\n${OTHER_HEADERS}`,
    parameters: [SCHEDULED, ...SCHEDULE_HEADERS],
    calledAs: '/v2/schedules/{destination}',
    sample: { path: { id: 'https://example.com/report' }, headers: { 'Svc-Cron': '0 8 * * *' } },
    bodyShape: anyBody('The message of each tick.'),
    example: { report: 'daily' },
    answer: shows('ScheduleSet'),
    handle: setSchedule,
  }),
];

/**
 * A URL never has this form, and group names have no slash, so this never conflicts with the calls that create
 * schedules.
 */
function pauseRoute(action: 'pause' | 'resume', summary: string, isPaused: boolean): QueueRoute {
  return queueRoute(`POST /v2/schedules/:id/${action}`, {
    alsoMethods: ['patch'],
    summary,
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path }) {
      await call.ask({ type: 'PauseSchedule', id: idIn(path), isPaused }, 'Done');
      call.done();
    },
  });
}

async function setSchedule(call: QueueCall): Promise<void> {
  const { words } = call;
  const destination = destinationInPath(call.path.slice(SCHEDULES.length), words.rest);
  const raw = withTrace(rawSettingsOf(words, destination.kind === 'group'), call.request.trace);
  const { settings, cron, scheduleId, queueName } = settingsOf(call, raw, 'schedule', {
    refuses: destination.kind === 'group' ? 'options' : 'callbacks',
  });
  const timetable = parseCron(cron ?? '');
  if (!timetable.isOk) throw invalid(timetable.message);
  const schedule = {
    id: scheduleId === undefined ? newScheduleId(call.endpoint.parts.random) : idIn({ id: scheduleId }),
    cron: timetable.cron,
    destination: checkedDestination(call, destination, settings, raw),
    queueName,
    body: call.body,
    callerIp: call.callerIp,
    isAlias: words.isAlias,
  };
  const { id } = await call.ask({ type: 'SetSchedule', schedule }, 'ScheduleSet');
  call.value(200, { scheduleId: id });
}

/** @throws Refused 400 */
function idIn({ id }: PathParts): ScheduleId {
  return checkedName('schedule id', id) as ScheduleId;
}
