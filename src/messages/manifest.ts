/**
 * What a snapshot of a shard is made of: the entry it ends at, and for every partition where its state
 * lies and how its chain of sections goes on. Manifests and segments are immutable objects; a partition
 * that did not change keeps the segments of the manifest before. codec/envelope gives it its bytes.
 */
import type { CommandId, PartitionName, ShardName } from '../kernel/index.js';

export interface SegmentRef {
  /** Name in the object store. */
  readonly object: string;
  readonly bytes: number;
  readonly sha256: Uint8Array;
}

/** Bodies that lie beside a state, each found by its number: two objects, read by themselves. */
export interface BodySegmentRef {
  /** The bodies, one behind the other, in order of number. */
  readonly bodies: SegmentRef;
  /** Which numbers they have, and where each ends (codec/envelope, body index). */
  readonly index: SegmentRef;
  readonly firstNumber: number;
  readonly lastNumber: number;
}

export interface ManifestPartition {
  readonly name: PartitionName;
  /** Index of its last section. */
  readonly index: number;
  /** Hash of its last section: what the next one names as its predecessor. */
  readonly hash: Uint8Array;
  /** Keys, or whatever is counted in its plane. */
  readonly keys: number;
  /** Order-free digest of its state, hex. */
  readonly digest: string;
  /** Effects that rebuild the state, to be applied in this order. None: the partition is empty. */
  readonly segments: readonly SegmentRef[];
  /** What the state refers to by number, in order of first number; ranges may overlap. Absent: nothing. */
  readonly bodySegments?: readonly BodySegmentRef[];
}

/** The last entry that a manifest covers. */
export interface ManifestHead {
  readonly number: number;
  readonly hash: Uint8Array;
  readonly epoch: number;
  readonly clockMs: number;
  /** Position of the entry's last message. */
  readonly position: number;
}

export interface Manifest {
  readonly shard: ShardName;
  readonly clusterId: string;
  readonly head: ManifestHead;
  /** In order of name. */
  readonly partitions: readonly ManifestPartition[];
  /**
   * Commands of remote callers and the journal clock of the entry that answered each, within
   * `RECENT_COMMANDS_MS` before the head, oldest first: a successor can say "executed" after that entry is gone.
   */
  readonly recentCommandIds: readonly (readonly [CommandId, number])[];
  readonly createdAtMs: number;
  /** When the journal stored the head, by its server's clock: audit retention judges by it. */
  readonly headStoredAtMs: number;
  /** Bytes of all messages the journal ever held up to the head. */
  readonly journalBytes: number;
}

/** Longer than any caller repeats a command. */
export const RECENT_COMMANDS_MS = 60_000;
/** Kept in any case: what callers that still repeat can have sent, a megabyte or so. */
export const RECENT_COMMANDS_KEPT = 20_000;
