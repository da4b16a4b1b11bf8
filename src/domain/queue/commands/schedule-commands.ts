/** Commands about schedules. schedule-setting.ts judges a new schedule. */
import type { ScheduleId } from '../../../kernel/index.js';
import { scheduleRefusal } from '../messages/held-refusal.js';
import type { QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import type { Schedule } from '../model/records.js';
import { tickAfter } from '../model/state/schedules.js';
import { decideSchedule } from './schedule-setting.js';

const DONE: QueueReply = { type: 'Done' };

export function setSchedule({ schedule: asked }: QueueCommandOf<'SetSchedule'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const { schedules, groups, bodies } = state;
  const before = schedules.get(asked.id);
  const decision = decideSchedule(asked, { before, count: schedules.size, groups, bodies }, context);
  if (decision.type === 'Rejected') return decision;
  const refusal = scheduleRefusal(decision, before, state, context);
  if (refusal !== undefined) return refusal;
  evolve(decision);
  return { type: 'ScheduleSet', id: asked.id };
}

export function pauseSchedule({ id, isPaused }: QueueCommandOf<'PauseSchedule'>, turn: QueueTurn): QueueReply {
  const { nowMs } = turn.context;
  const schedule = turn.state.schedules.get(id);
  if (schedule === undefined) return notFound(id);
  if (schedule.isPaused === isPaused) return DONE;
  const { cron, nextTickAtMs: due } = schedule;
  // Ticks of the pause are not run later, even those that were not yet recorded as skipped.
  const nextTickAtMs = !isPaused && due <= nowMs ? tickAfter(cron, nowMs, due) : due;
  turn.evolve({ type: 'SchedulePaused', id, isPaused, nextTickAtMs, atMs: nowMs });
  return DONE;
}

export function deleteSchedule(
  { id }: QueueCommandOf<'DeleteSchedule'>,
  { state, context, evolve }: QueueTurn,
): QueueReply {
  if (state.schedules.get(id) === undefined) return notFound(id);
  evolve({ type: 'ScheduleDeleted', id, atMs: context.nowMs });
  return DONE;
}

export function getSchedule({ id }: QueueCommandOf<'GetSchedule'>, { state }: QueueTurn): QueueReply {
  const schedule = state.schedules.get(id);
  return schedule === undefined ? notFound(id) : listOf([schedule]);
}

export function listSchedules(_: QueueCommandOf<'ListSchedules'>, { state }: QueueTurn): QueueReply {
  return listOf(state.schedules.all());
}

function listOf(schedules: readonly Schedule[]): QueueReply {
  return { type: 'Schedules', schedules: schedules.map((schedule) => ({ schedule, content: undefined })) };
}

function notFound(id: ScheduleId): QueueReply {
  return rejection('NOT_FOUND', `schedule ${id} not found`);
}
