/** Commands above the limit per day or per second. */
import { ErrorReply } from '../../domain/kv/index.js';
import type { KvGrant, Quota } from '../../ports/index.js';

export const QUOTA_EXCEEDED = new ErrorReply('ERR max daily request limit exceeded');

/** Takes commands one by one when the quota has no room for all. @returns how many of `wanted` it took */
export async function takeSingly(quota: Quota, grant: KvGrant, wanted: number): Promise<number> {
  for (let taken = 0; taken < wanted; taken += 1) {
    // A failed take of one command would fail again.
    if (wanted === 1 || !(await quota.take(grant, 1))) return taken;
  }
  return wanted;
}
