/**
 * Making room in a database that has reached its bound: keys are chosen among a few at random, as Redis does, and
 * removed with a `DEL` in the journal.
 *
 *  EV1 nothing is removed while the database is within its bound
 *  EV2 a policy that finds no candidate removes nothing, and growth is refused; unless it is the plan that is reached,
 *      and its owner wants to lose keys rather than writes
 */
import type { ByteString, Random } from '../../kernel/index.js';
import type { Keyspace } from './keyspace.js';
import { KEY_OVERHEAD_BYTES } from './keyspace.js';

/** Keys removed for one command: beyond it the command is refused, and the next one goes on. */
export const MAX_EVICTIONS = 200;

export interface EvictionRules {
  readonly policy: string;
  /** Keys compared for each one that is removed. */
  readonly samples: number;
}

/** What bounds are compared with, and statistics count: names, values, and what keys cost beside them. */
export function storedBytes(keyspace: Keyspace): number {
  return keyspace.bytes + keyspace.size * KEY_OVERHEAD_BYTES;
}

/** Keys that were to expire anyway go first. */
export function chooseAnyVictim(keyspace: Keyspace, random: Random): ByteString | undefined {
  const float = () => random.float();
  return keyspace.randomExpiring(float) ?? keyspace.anyRandomKey(float);
}

/** The next key to remove; undefined when the policy has no candidate. */
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
