/** A schedule as the API shows it. Members without a value are omitted. */
import type { Schedule } from '../../../domain/queue/index.js';
import {
  callbackHeaders,
  callerMembers,
  messageBody,
  messageHeader,
  settingsMembers,
} from '../../records/record-parts.js';
import type { Spelling } from '../../wire-alias.js';

/** @param content its body; undefined if it is empty */
export function scheduleRecord(schedule: Schedule, content: Uint8Array | undefined, spelling: Spelling) {
  const { settings, destination } = schedule;
  const { ofCallback, ofFailureCallback } = callbackHeaders(settings, spelling);
  return {
    scheduleId: schedule.id,
    cron: schedule.cron,
    destination: destination.kind === 'url' ? destination.url : destination.name,
    method: settings.method,
    createdAt: schedule.createdAtMs,
    isPaused: schedule.isPaused,
    retries: settings.maxRetries,
    header: messageHeader(settings, spelling),
    ...messageBody(content, settings),
    delay: settings.delaySeconds === 0 ? undefined : settings.delaySeconds,
    timeout: settings.timeoutSeconds,
    queueName: schedule.queueName,
    ...settingsMembers(settings),
    callbackHeader: ofCallback,
    failureCallbackHeader: ofFailureCallback,
    ...callerMembers(schedule.callerIp),
    lastScheduleTime: schedule.lastTickAtMs === 0 ? undefined : schedule.lastTickAtMs,
    nextScheduleTime: schedule.nextTickAtMs,
    lastScheduleStates: schedule.lastOutcomes.size === 0 ? undefined : Object.fromEntries(schedule.lastOutcomes),
  };
}
