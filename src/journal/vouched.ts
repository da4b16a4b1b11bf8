/**
 * Whether a journal is all there, as far as that can be told without reading it: asked before something is made of one
 * that would otherwise come out shorter without a word.
 *
 *  VJ1 the lease is read before the end of its journal: what it vouches for must be there by then
 */
import { decodeShardLease, type ShardLease } from '../codec/leases/index.js';
import { describeError, MillraceError, type ShardName } from '../kernel/index.js';
import { type Journal, type LeaseStore, WHAT_TO_DO } from '../ports/index.js';

export interface VouchedPorts {
  readonly journal: Pick<Journal, 'tail' | 'readAt'>;
  readonly leases: Pick<LeaseStore, 'get'>;
}

/** A journal that somebody has to look at, with what to do about it. */
export function inDoubt(why: MillraceError): MillraceError {
  const text = describeError(why);
  return text.includes(WHAT_TO_DO) ? why : new MillraceError('JOURNAL_DAMAGED', `${text}; ${WHAT_TO_DO}`, why.details);
}

/** @throws JOURNAL_DAMAGED, in one line that names the stream and what to do; JOURNAL_UNAVAILABLE */
export async function mustBeWhole({ journal, leases }: VouchedPorts, shard: ShardName): Promise<void> {
  const lease = await leaseOf({ leases }, shard);
  const { last, holes, createdAt } = await journal.tail(shard);
  if (lease !== undefined && lease.createdAt !== createdAt) {
    throw damaged(shard, `its stream was made at ${createdAt}, its lease says ${lease.createdAt}`);
  }
  if (holes > 0) throw damaged(shard, `${holes} messages are missing in the middle`);
  const seen = lease?.highWater?.position ?? 0;
  if (last < seen) {
    throw damaged(shard, `the journal is shorter than it was: its lease has seen position ${seen}, it ends at ${last}`);
  }
  if (last > 0 && (await journal.readAt(shard, last)) === undefined) {
    throw damaged(shard, `its last message, at position ${last}, cannot be read`);
  }
}

export async function leaseOf(
  { leases }: Pick<VouchedPorts, 'leases'>,
  shard: ShardName,
): Promise<ShardLease | undefined> {
  const record = await leases.get(shard);
  return record === undefined ? undefined : decodeShardLease(record.value);
}

function damaged(shard: ShardName, reason: string): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: ${reason}; ${WHAT_TO_DO}`, { shard });
}
