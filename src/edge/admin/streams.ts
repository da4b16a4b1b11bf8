/** Opens a stream for a call, and ends it when its work is done or has failed. */
import { describeError, isMillraceError } from '../../kernel/index.js';
import { adminRefusalOf } from '../error-map.js';
import { Refused } from '../http/refused.js';
import type { AdminCall } from './admin-call.js';
import { EventStream } from './event-stream.js';

/**
 * @param work begins the stream when nothing can be refused any more
 * @throws Refused 503 when too many are open; what `work` throws before it begins the stream
 */
export async function openStream(call: AdminCall, work: (stream: EventStream) => Promise<void>): Promise<void> {
  const { face, grant, response } = call;
  const giveBack = face.streams.take(grant.account);
  const stream = new EventStream(call);
  try {
    await work(stream);
  } catch (failure) {
    if (!response.headersSent) throw failure;
    if (!isMillraceError(failure)) face.parts.log.error('admin.stream.failed', { error: describeError(failure) });
    const { text } = failure instanceof Refused ? failure.refusal : adminRefusalOf(failure);
    await stream.send('failed', JSON.stringify({ error: text }));
  } finally {
    giveBack();
    stream.end();
  }
}
