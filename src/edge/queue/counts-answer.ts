/** Counts of a read model as they are shown: in all, and by what tells them apart. */
import type { Counts } from '../../ports/index.js';
import type { QueueCall } from './queue-call.js';

/** `isWhole` false: there are at least so many. */
export async function answerCounts(call: QueueCall, page: Counts): Promise<void> {
  const { counts, isWhole } = page;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  await call.pieces([JSON.stringify({ total, counts, isWhole })], page);
}
