/** Sends an event to waiting runs. */
import { ofQueue } from '../../api/call.js';

interface EventNotice {
  readonly eventId: string;
  readonly body: string;
  /** Undefined: all waiting runs. */
  readonly runId: string | undefined;
}

/** @returns the number of runs that continue */
export async function notify(account: string, { eventId, body, runId }: EventNotice): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  // The run's id precedes the event's, separated by a slash.
  const event = [runId, eventId].filter((part) => part !== undefined).map(encodeURIComponent);
  const operation = `POST /v2/notify/${event.join('/')}` as 'POST /v2/notify/{event}';
  const woken = await ofQueue(account, operation, { body, headers });
  return woken.length;
}
