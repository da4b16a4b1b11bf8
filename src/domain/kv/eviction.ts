/**
 * Eviction in a database that has reached its bound. As in Redis, the victim is chosen among a few random keys; its
 * removal is journaled as `DEL`.
 *
 *  EV1 no key is evicted while the database is within its bound
 *  EV2 if the policy has no candidate, no key is evicted and growth is refused; except that a plan with eviction
 *      enabled removes any key when its limit is reached
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
  return keyspace.randomExpiring(float) ?? keyspace.anyRandomKey(float);
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
  const pick = () => (isVolatile ? keyspace.randomExpiring(float) : keyspace.anyRandomKey(float));
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
