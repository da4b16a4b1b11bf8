/**
 * What of a shard's past is kept, decided from its manifests alone.
 *
 *  R1 the two newest manifests stay, and everything in the journal behind the older of them
 *  R2 history younger than the audit retention's age *and* within its bytes stays: whichever is reached
 *     first lets go of what is older
 *  R3 the manifest that the retained history begins behind stays: without it, history has no beginning
 *  R4 a few manifests between stay as the beginnings of later days; history is let go of in those steps
 *  R5 one manifest alone lets go of nothing: its verification may have missed something
 */
import type { StoredManifest } from './snapshot-store.js';

export interface AuditRetention {
  readonly maxAgeMs: number;
  /** Of messages in the journal of one shard. */
  readonly maxBytes: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 10 * 1024 ** 3 };

/** R4: history overstays by at most this share; each manifest kept for it may hold a copy of the state. */
const STEPS = 4;

export interface RetentionPlan {
  /** Newest first. */
  readonly keep: readonly StoredManifest[];
  /** The journal may be cut below this position; `undefined`: not at all. */
  readonly purgeBelow: number | undefined;
}

/**
 * @param manifests  those that count, the newest first
 * @param nowMs      wall clock; ages are by when the journal's server stored a manifest's last entry
 */
export function planRetention(
  manifests: readonly StoredManifest[],
  retention: AuditRetention,
  nowMs: number,
): RetentionPlan {
  const [newest, older] = manifests;
  if (newest === undefined || older === undefined) return { keep: manifests, purgeBelow: undefined };

  const ageOf = ({ manifest }: StoredManifest) => nowMs - manifest.headStoredAtMs;
  const bytesSince = ({ manifest }: StoredManifest) => newest.manifest.journalBytes - manifest.journalBytes;
  const isLetGo = (stored: StoredManifest) =>
    ageOf(stored) >= retention.maxAgeMs || bytesSince(stored) >= retention.maxBytes;

  // From the oldest that is needed (R3) towards the newest, in steps (R4).
  const beginning = manifests.findIndex(isLetGo);
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
  if (anchor === undefined) return { keep: keepInOrder, purgeBelow: undefined };
  const needed = Math.min(older.manifest.head.position, anchor.manifest.head.position);
  return { keep: keepInOrder, purgeBelow: needed + 1 };
}
