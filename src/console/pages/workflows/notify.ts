/** Telling an event. */
import { ofQueue } from '../../api/call.js';

interface Told {
  readonly eventId: string;
  readonly body: string;
  /** Undefined: all that wait. */
  readonly runId: string | undefined;
}

/** @returns how many go on */
export async function notify(account: string, { eventId, body, runId }: Told): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  // A run stands before the event, with a slash of its own between.
  const event = [runId, eventId].filter((part) => part !== undefined).map(encodeURIComponent);
  const operation = `POST /v2/notify/${event.join('/')}` as 'POST /v2/notify/{event}';
  const woken = await ofQueue(account, operation, { body, headers });
  return woken.length;
}
