/**
 * JSON bodies from endpoints: the record of a step, or the envelope of an invoke. Large ones are parsed in slices
 * before the synchronous checks of the call.
 */

import { MAX_BODY_VALUES } from '../http/http-limits.js';
import { inSlices, LONG_BYTES, readLarge } from '../http/large-json.js';
import { bytes } from '../records/record-parts.js';
import type { RequestedMessage } from './publish-items.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { runHeadersOf } from './run-headers.js';

/** Must the body be parsed in slices? Decided by its size and headers. */
export function hasLargeRecord({ body, raw }: RequestedMessage): boolean {
  if (body.byteLength <= LONG_BYTES) return false;
  const run = runHeadersOf(raw.headers);
  return run !== undefined && !run.isCall && (!run.isTrigger || run.isInvoke);
}

/** @returns the message with its parsed body. @throws Refused 400 */
export async function withRecord(
  endpoint: Pick<QueueEndpoint, 'yieldToEventLoop'>,
  asked: RequestedMessage,
): Promise<RequestedMessage> {
  const isInvoke = runHeadersOf(asked.raw.headers)?.isInvoke === true;
  // The payload of an invoke is taken out as bytes; the result of a step stays in the body.
  const name = isInvoke ? 'body' : undefined;
  const bounds = { subject: 'the body', maxValues: MAX_BODY_VALUES };
  return { ...asked, record: await inSlices(endpoint, readLarge(bytes(asked.body), name, bounds)) };
}
