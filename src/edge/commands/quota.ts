/** Commands that the day, or the second, has no room for. */
import { ErrorReply } from '../../domain/kv/index.js';
import type { KvGrant, Quota } from '../../ports/index.js';

export const QUOTA_EXCEEDED = new ErrorReply('ERR max daily request limit exceeded');

/** How many of `wanted` commands the day still has room for, when it has none for all together. */
export async function takeSingly(quota: Quota, grant: KvGrant, wanted: number): Promise<number> {
  for (let taken = 0; taken < wanted; taken += 1) {
    // A failed take of one cannot become a success by asking again for the same one.
    if (wanted === 1 || !(await quota.take(grant, 1))) return taken;
  }
  return wanted;
}
