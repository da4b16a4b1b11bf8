/** `/v2/schedules`. */
import { nameProblem, newScheduleId, parseCron } from '../../../domain/queue/index.js';
import { assert, type ScheduleId } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';
import { rawSettingsOf } from '../call-words.js';
import { destinationInPath } from '../destination.js';
import { checkedDestination, settingsOf } from '../publish-items.js';
import type { QueueCall } from '../queue-call.js';
import { scheduleRecord } from '../records/schedule-record.js';
import type { Handle, PathParts, Routes } from './routes.js';

const SCHEDULES = '/v2/schedules/';

export const scheduleRoutes: Routes = (add) => {
  add('get', '/v2/schedules', async (call) => {
    const { schedules } = await call.ask({ type: 'ListSchedules' }, 'Schedules');
    await call.list(['[', ']'], schedules, ({ schedule, content }) =>
      scheduleRecord(schedule, content, call.spellingFor(schedule.isAlias)),
    );
  });

  add('get', '/v2/schedules/:id', async (call, parts) => {
    const { schedules } = await call.ask({ type: 'GetSchedule', id: idIn(parts) }, 'Schedules');
    const [found] = schedules;
    assert(found !== undefined, 'a schedule that was found is missing');
    call.value(200, scheduleRecord(found.schedule, found.content, call.spellingFor(found.schedule.isAlias)));
  });

  add('delete', '/v2/schedules/:id', async (call, parts) => {
    call.mustBeAllowedToChange();
    await call.ask({ type: 'DeleteSchedule', id: idIn(parts) }, 'Done');
    call.done();
  });

  // No URL has this form, and no group's name a slash: ahead of the call that makes schedules.
  for (const [action, isPaused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    const handle: Handle = async (call, parts) => {
      call.mustBeAllowedToChange();
      await call.ask({ type: 'PauseSchedule', id: idIn(parts), isPaused }, 'Done');
      call.done();
    };
    add('post', `/v2/schedules/:id/${action}`, handle);
    add('patch', `/v2/schedules/:id/${action}`, handle);
  }

  add('post', /^\/v2\/schedules\/.*$/, setSchedule);
};

async function setSchedule(call: QueueCall): Promise<void> {
  call.mustBeAllowedToChange();
  const { words } = call;
  const destination = destinationInPath(call.path.slice(SCHEDULES.length), words.rest);
  const raw = rawSettingsOf(words, destination.kind === 'group');
  const { settings, cron, scheduleId, queueName } = settingsOf(call, raw, 'schedule');
  const timetable = parseCron(cron ?? '');
  if (!timetable.isOk) throw invalid(timetable.message);
  const schedule = {
    id: scheduleId === undefined ? newScheduleId(call.face.parts.random) : idIn({ id: scheduleId }),
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
function idIn({ id = '' }: PathParts): ScheduleId {
  const problem = nameProblem('schedule id', id);
  if (problem !== undefined) throw invalid(problem);
  return id as ScheduleId;
}
