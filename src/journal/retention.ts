/**
 * Decides, from a shard's manifests alone, which part of its history is kept.
 *
 *  RET1 the two newest manifests stay, and everything in the journal after the older of them
 *  RET2 history stays while it is younger than the audit retention's age *and* within its bytes
 *  RET3 the manifest at which the retained history begins stays, because the history needs it as its beginning
 *  RET4 a few manifests in between stay as the beginnings of later days; history is removed in those steps
 *  RET5 a single manifest removes no history, because its verification may have missed a fault
 *  RET6 all journals together stay within a total, as far as RET1 allows: above it, the largest are cut to the level
 *       at which all fit, even below the age of RET2
 */
import type { StoredManifest } from './snapshot-store.js';

export interface AuditRetention {
  readonly maxAgeMs: number;
  /** The bytes of messages in the journal of one shard. */
  readonly maxBytes: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 10 * 1024 ** 3 };

/** The bound of one journal that follows from the total (RET6). */
export interface JournalCeiling {
  /** The bytes that it holds now. */
  readonly heldBytes: number;
  readonly maxBytes: number;
}

/**
 * The largest size of one journal with which all together stay within the total; the unused shares of small ones go to
 * large ones (RET6). Infinity when all fit.
 */
export function levelOf(sizes: readonly number[], total: number): number {
  const ascending = [...sizes].sort((one, other) => one - other);
  let left = total;
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** History stays longer by at most this share (RET4); each manifest kept for it may hold a copy of the state. */
const STEPS = 4;

export interface RetentionPlan {
  /** Newest first. */
  readonly keep: readonly StoredManifest[];
  /** Everything below this position may be removed; undefined: the journal is not cut. */
  readonly purgeBelow: number | undefined;
  /** True when the total (RET6) requires more than the two newest manifests (RET1) allow. */
  readonly isOver: boolean;
}

/**
 * @param manifests  the valid ones, the newest first
 * @param nowMs      wall clock; an age is counted from when the journal's server stored a manifest's last entry
 * @param ceiling    set where the total requires less
 */
export function planRetention(
  manifests: readonly StoredManifest[],
  retention: AuditRetention,
  nowMs: number,
  ceiling?: JournalCeiling,
): RetentionPlan {
  const [newest, older] = manifests;
  const isAsked = ceiling !== undefined && ceiling.heldBytes > ceiling.maxBytes;
  if (newest === undefined || older === undefined) return { keep: manifests, purgeBelow: undefined, isOver: isAsked };

  const ageOf = ({ manifest }: StoredManifest) => nowMs - manifest.headStoredAtMs;
  const bytesSince = ({ manifest }: StoredManifest) => newest.manifest.journalBytes - manifest.journalBytes;
  const isLetGo = (stored: StoredManifest) =>
    ageOf(stored) >= retention.maxAgeMs || bytesSince(stored) >= retention.maxBytes;

  // From the oldest needed one (RET3) towards the newest, in steps (RET4).
  let beginning = manifests.findIndex(isLetGo);
  if (isAsked) {
    const beyond = manifests.findIndex((stored) => bytesSince(stored) > ceiling.maxBytes);
    const fitting = Math.max(1, (beyond === -1 ? manifests.length : beyond) - 1);
    if (beginning === -1 || fitting < beginning) beginning = fitting;
  }
  const candidates = manifests.slice(0, beginning === -1 ? manifests.length : beginning + 1).reverse();
  const keep = new Set<StoredManifest>([newest, older]);
  let last: StoredManifest | undefined;
  for (const candidate of candidates) {
    const isStep =
      last === undefined ||
      ageOf(last) - ageOf(candidate) >= retention.maxAgeMs / STEPS ||
      bytesSince(last) - bytesSince(candidate) >= retention.maxBytes / STEPS;
    if (!isStep) continue;
    keep.add(candidate);
    last = candidate;
  }

  const anchor = manifests[beginning];
  const keepInOrder = manifests.filter((stored) => keep.has(stored));
  if (anchor === undefined) return { keep: keepInOrder, purgeBelow: undefined, isOver: false };
  const needed = Math.min(older.manifest.head.position, anchor.manifest.head.position);
  const isOver = isAsked && bytesSince(beginning === 0 ? older : anchor) > ceiling.maxBytes;
  return { keep: keepInOrder, purgeBelow: needed + 1, isOver };
}
