/**
 * Eviction in a database that has reached its bound. As in Redis, the victim is chosen among a few random keys; its
 * removal is journaled as `UNLINK` with the key twice (`key-effects.ts`).
 *
 *  EV1 no key is evicted while the database is within its bound
 *  EV2 if the policy has no candidate, no key is evicted and growth is refused; except that a plan with eviction
 *      enabled removes any key when its limit is reached
 *  EV3 the definition of a full-text index is not evicted: its documents would still be there, and be found no more
 */
import type { ByteString, Random } from '../../kernel/index.js';
import type { Keyspace } from './keyspace.js';
import { KEY_OVERHEAD_BYTES } from './keyspace.js';

/** The most keys evicted for one command. If that is not enough the command is refused, and the next one continues. */
export const MAX_EVICTIONS = 200;

export interface EvictionRules {
  readonly policy: string;
  /** Keys compared for each eviction. */
  readonly samples: number;
}

/** The size compared with bounds and shown in statistics: names, values and an overhead per key. */
export function storedBytes(keyspace: Keyspace): number {
  return keyspace.bytes + keyspace.size * KEY_OVERHEAD_BYTES + keyspace.derivedBytes;
}

/** Keys with an expiry go first. */
export function chooseAnyVictim(keyspace: Keyspace, random: Random): ByteString | undefined {
  const float = () => random.float();
  const drawn = otherThanIndexes(keyspace, () => keyspace.expiries.randomKey(float));
  return drawn ?? otherThanIndexes(keyspace, () => keyspace.anyRandomKey(float));
}

/** The next key to evict; undefined when the policy has no candidate. */
export function chooseVictim(
  keyspace: Keyspace,
  { policy, samples }: EvictionRules,
  random: Random,
): ByteString | undefined {
  const [scope, order] = policy.split('-') as [string, string | undefined];
  if (order === undefined) return undefined;
  const float = () => random.float();
  const isVolatile = scope === 'volatile';
  const draw = () => (isVolatile ? keyspace.expiries.randomKey(float) : keyspace.anyRandomKey(float));
  const pick = () => otherThanIndexes(keyspace, draw);
  if (order === 'random') return pick();
  let victim: ByteString | undefined;
  let worst = Number.POSITIVE_INFINITY;
  for (let i = 0; i < samples; i += 1) {
    const key = pick();
    if (key === undefined) return victim;
    const rank = order === 'ttl' ? (keyspace.expiryOf(key) ?? Number.POSITIVE_INFINITY) : keyspace.accessRank(key);
    if (victim !== undefined && rank >= worst) continue;
    victim = key;
    worst = rank;
  }
  return victim;
}

/** Draws of a key until it is no index; as good as certain, unless there are hardly any other keys. */
const MOST_DRAWS = 16;

function otherThanIndexes(keyspace: Keyspace, draw: () => ByteString | undefined): ByteString | undefined {
  for (let draws = 0; draws < MOST_DRAWS; draws += 1) {
    const key = draw();
    if (key === undefined || !keyspace.derived.searches.has(key)) return key;
  }
  return undefined;
}
