/**
 * Checks, without reading it, that a journal is complete as far as its lease can tell; used before data is derived from
 * the journal that would otherwise be silently incomplete.
 *
 *  VJ1 the lease is read before the end of its journal, so the entry that it vouches for must be there
 */
import { decodeShardLease, type ShardLease } from '../codec/leases/index.js';
import { describeError, MillraceError, type ShardName } from '../kernel/index.js';
import { type Journal, type LeaseStore, WHAT_TO_DO } from '../ports/index.js';

export interface CompletenessPorts {
  readonly journal: Pick<Journal, 'tail' | 'readAt'>;
  readonly leases: Pick<LeaseStore, 'get'>;
}

/** The error for a journal that needs an operator, with the actions to take. */
export function withRemedy(reason: MillraceError): MillraceError {
  if (reason.code === 'NEWER_FORMAT') return reason;
  const text = describeError(reason);
  return text.includes(WHAT_TO_DO)
    ? reason
    : new MillraceError('JOURNAL_DAMAGED', `${text}; ${WHAT_TO_DO}`, reason.details);
}

/** @throws JOURNAL_DAMAGED, in one line that names the stream and the actions to take; JOURNAL_UNAVAILABLE */
export async function requireComplete({ journal, leases }: CompletenessPorts, shard: ShardName): Promise<void> {
  const lease = await leaseOf({ leases }, shard);
  const { last, holes, createdAt } = await journal.tail(shard);
  if (lease !== undefined && lease.createdAt !== createdAt) {
    throw damaged(shard, `its stream was created at ${createdAt}, its lease says ${lease.createdAt}`);
  }
  if (holes > 0) throw damaged(shard, `${holes} messages are missing in the middle`);
  const seen = lease?.highWater?.position ?? 0;
  if (last < seen) {
    throw damaged(shard, `the journal is shorter than before: its lease recorded position ${seen}, it ends at ${last}`);
  }
  if (last > 0 && (await journal.readAt(shard, last)) === undefined) {
    throw damaged(shard, `its last message, at position ${last}, cannot be read`);
  }
}

export async function leaseOf(
  { leases }: Pick<CompletenessPorts, 'leases'>,
  shard: ShardName,
): Promise<ShardLease | undefined> {
  const record = await leases.get(shard);
  return record === undefined ? undefined : decodeShardLease(record.value);
}

function damaged(shard: ShardName, reason: string): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: ${reason}; ${WHAT_TO_DO}`, { shard });
}
