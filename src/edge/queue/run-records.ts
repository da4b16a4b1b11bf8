/**
 * What endpoints say of a run in the body of a message: the record of a step, or the envelope of an invoke. Large ones
 * are read before the rest of the call is judged, which is judged at a stretch.
 */

import { MAX_BODY_VALUES } from '../http/http-limits.js';
import { inSlices, LONG_BYTES, readLarge } from '../http/large-json.js';
import { bytes } from '../records/shown.js';
import type { AskedMessage } from './publish-items.js';
import type { QueueFace } from './queue-face.js';
import { runHeadersOf } from './run-headers.js';

/** Must it be read ahead? By its size and its headers. */
export function hasLargeRecord({ body, raw }: AskedMessage): boolean {
  if (body.byteLength <= LONG_BYTES) return false;
  const run = runHeadersOf(raw.headers);
  return run !== undefined && !run.isCall && (!run.isTrigger || run.isInvoke);
}

/** @returns the message with its body read. @throws Refused 400 */
export async function withRecord(face: Pick<QueueFace, 'breathe'>, asked: AskedMessage): Promise<AskedMessage> {
  const isInvoke = runHeadersOf(asked.raw.headers)?.isInvoke === true;
  // The payload of an invoke is bytes afterwards; the result of a step stays where it is.
  const name = isInvoke ? 'body' : undefined;
  const bounds = { what: 'the body', maxValues: MAX_BODY_VALUES };
  return { ...asked, record: await inSlices(face, readLarge(bytes(asked.body), name, bounds)) };
}
