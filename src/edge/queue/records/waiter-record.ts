/** A step that waits for an event, and the result of a notification. */
import { canonicalHeaderName, type HeaderList } from '../../../domain/queue/index.js';
import type { ListedWaiter, Notified, WaiterView } from '../../../domain/queue/runs/index.js';
import { textOfHeader } from '../../../kernel/index.js';
import type { Spelling } from '../../wire-alias.js';

/** Times are in seconds. */
export function waiterRecord(waiter: WaiterView, spelling: Spelling) {
  return {
    url: waiter.url,
    headers: settingsObject(waiter.headers, spelling),
    deadline: Math.ceil(waiter.deadlineMs / 1000),
    timeoutUrl: waiter.timeoutUrl,
    timeoutBody: waiter.timeoutBody,
    timeoutHeaders: settingsObject(waiter.timeoutHeaders, spelling),
  };
}

/** A waiter in the list of all events. Times are in milliseconds. */
export function listedWaiterRecord(step: ListedWaiter) {
  const { eventId, runId, runCreatedAtMs, stepId, stepName, addedAtMs, deadlineMs } = step;
  return {
    eventId,
    workflowRunId: runId,
    workflowCreatedAt: runCreatedAtMs,
    stepId,
    stepName,
    addedAt: addedAtMs,
    deadline: deadlineMs,
  };
}

export function notifyRecord({ waiter, messageId }: Notified, spelling: Spelling) {
  return {
    waiter: waiterRecord(waiter, spelling),
    messageId,
    // Clients expect a text; an event that cannot be delivered fails its run later.
    error: '',
    workflowRunId: waiter.runId,
    workflowCreatedAt: waiter.runCreatedAtMs,
  };
}

/** Without a prototype, because callers choose the names of headers. */
function settingsObject(headers: HeaderList, spelling: Spelling): Record<string, string[]> {
  const byName: Record<string, string[]> = Object.create(null);
  for (const [name, bytes] of headers) {
    const value = textOfHeader(bytes);
    const spelled = spelling.settingName(canonicalHeaderName(name));
    const values = byName[spelled];
    if (values === undefined) byName[spelled] = [value];
    else values.push(value);
  }
  return byName;
}
