/**
 * What of a shard's past is kept, decided from its manifests alone.
 *
 *  RET1 the two newest manifests stay, and everything in the journal behind the older of them
 *  RET2 history younger than the audit retention's age *and* within its bytes stays: whichever is reached
 *       first lets go of what is older
 *  RET3 the manifest that the retained history begins behind stays: without it, history has no beginning
 *  RET4 a few manifests between stay as the beginnings of later days; history is let go of in those steps
 *  RET6 all journals together stay within a total, as far as RET1 lets them: where they would not, the largest let go of
 *       what is beyond the level at which all fit, though it is younger than RET2 keeps it
 *  RET5 one manifest alone lets go of nothing: its verification may have missed something
 */
import type { StoredManifest } from './snapshot-store.js';

export interface AuditRetention {
  readonly maxAgeMs: number;
  /** The bytes of messages in the journal of one shard. */
  readonly maxBytes: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 10 * 1024 ** 3 };

/** RET6, of one journal. */
export interface JournalCeiling {
  /** What it holds now. */
  readonly heldBytes: number;
  readonly maxBytes: number;
}

/**
 * RET6: the most that one of several may have, so that all together have the total; small ones leave theirs to large ones.
 * Infinity where all fit as they are.
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

/** RET4: history overstays by at most this share; each manifest kept for it may hold a copy of the state. */
const STEPS = 4;

export interface RetentionPlan {
  /** Newest first. */
  readonly keep: readonly StoredManifest[];
  /** The journal may be cut below this position; `undefined`: not at all. */
  readonly purgeBelow: number | undefined;
  /** RET6 asked for less than RET1 can let go of. */
  readonly isOver: boolean;
}

/**
 * @param manifests  those that count, the newest first
 * @param nowMs      wall clock; ages are by when the journal's server stored a manifest's last entry
 * @param ceiling    where the total asks for less
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

  // From the oldest that is needed (RET3) towards the newest, in steps (RET4).
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
