/** Who should own a shard: rendezvous hashing, so that one process more or less moves only its own share. */
import { sha256 } from '../../codec/envelope/index.js';
import type { SessionId, ShardName } from '../../kernel/index.js';

export function rendezvousOwner(shard: ShardName, candidates: readonly SessionId[]): SessionId | undefined {
  let best: SessionId | undefined;
  let bestWeight = -1n;
  for (const candidate of candidates) {
    const weight = Buffer.from(sha256(Buffer.from(`${shard} ${candidate}`))).readBigUInt64BE(0);
    if (weight > bestWeight || (weight === bestWeight && candidate < (best as SessionId))) {
      best = candidate;
      bestWeight = weight;
    }
  }
  return best;
}
