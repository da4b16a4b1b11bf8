/** Streams of server-sent events to operators: their limit, and the text of a failure. */
import { describeError, isMillraceError } from '../../kernel/index.js';
import { adminRefusalOf } from '../error-map.js';
import { EventStream } from '../http/event-stream.js';
import { RefusedRequest } from '../http/refused.js';
import type { AdminCall } from './admin-call.js';

/**
 * Opens a stream for a call, and ends it after its work.
 * @param work calls `begin` when it can no longer be refused
 * @throws Refused 503 if too many are open; errors of `work` before `begin`
 */
export async function openStream(call: AdminCall, work: (stream: EventStream) => Promise<void>): Promise<void> {
  const { endpoint, grant } = call;
  const giveBack = endpoint.streams.take(grant.account);
  const response = call.takeOver();
  const stream = new EventStream(call, response);
  try {
    await work(stream);
  } catch (failure) {
    if (!response.headersSent) throw failure;
    if (!isMillraceError(failure)) endpoint.parts.log.error('admin.stream.failed', { error: describeError(failure) });
    const { text } = failure instanceof RefusedRequest ? failure.refusal : adminRefusalOf(failure);
    await stream.send('failed', JSON.stringify({ error: text }));
  } finally {
    giveBack();
    stream.end();
  }
}
