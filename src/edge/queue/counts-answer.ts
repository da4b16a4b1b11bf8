/** Counts from a read model: the total, and the counts by group. */
import type { Counts } from '../../ports/index.js';
import type { QueueCall } from './queue-call.js';

/** `isWhole` false: the counts are lower bounds. */
export async function answerCounts(call: QueueCall, page: Counts): Promise<void> {
  const { counts, isWhole } = page;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  await call.pieces([JSON.stringify({ total, counts, isWhole })], page);
}
