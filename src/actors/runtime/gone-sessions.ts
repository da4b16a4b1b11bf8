/**
 * Sessions of processes that are known to have ended, because the operating system said so to their supervisor. Other
 * processes need not wait for their silence, nor for the end of their read leases.
 */
import { decodeSessionRecord, encodeHeartbeat } from '../../codec/leases/index.js';
import type { SessionId } from '../../kernel/index.js';
import type { Bus, LeaseStore } from '../../ports/index.js';
import { markSessionDead, sessionKey } from './session.js';

const GONE = { isGone: true } as const;
/** A renewal that was on its way may change the record once. */
const TRIES = 5;

/** Called after the process has ended. @throws JOURNAL_UNAVAILABLE */
export async function announceGone(
  { leases, bus }: { readonly leases: LeaseStore; readonly bus: Bus },
  { process, session }: { readonly process: SessionId; readonly session: SessionId },
): Promise<void> {
  const marked = markGone(leases, session);
  // The announcement is sent even if the record cannot be written: the process that takes a shard marks the session dead too.
  await marked.catch(() => undefined);
  bus.publish({ kind: 'heartbeat' }, encodeHeartbeat({ session, process, canOwn: false, isLeaving: true, ...GONE }));
  await marked;
}

/** Marks every session, when the caller holds the lock without which no process runs. @throws JOURNAL_UNAVAILABLE */
export async function markAllGone(leases: LeaseStore): Promise<void> {
  const prefix = sessionKey('' as SessionId);
  const keys = await leases.keys(prefix);
  await Promise.all(keys.map((key) => markGone(leases, key.slice(prefix.length) as SessionId)));
}

export async function isMarkedGone(leases: LeaseStore, session: SessionId): Promise<boolean> {
  const record = await leases.get(sessionKey(session));
  return record !== undefined && decodeSessionRecord(record.value).isGone === true;
}

async function markGone(leases: LeaseStore, session: SessionId): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    if ((await markSessionDead(leases, session, GONE)) !== undefined) return;
  }
}
