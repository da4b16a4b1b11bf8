/**
 * What a snapshot of a shard is made of: the entry it ends at, and for every partition where its state
 * lies and how its chain of sections goes on. Manifests and segments are immutable objects; a partition
 * that did not change keeps the segments of the manifest before. The order of fields is the
 * format.
 */
import type { CommandId, PartitionName, ShardName } from '../kernel/index.js';
import { absent, bytesOf, integer, listOf, openRecord, type TypeOf, text, tuple } from '../kernel/schema/index.js';

const sha256 = bytesOf(32);

export const segmentRef = openRecord({
  /** Name in the object store. */
  object: text(),
  bytes: integer,
  sha256,
});
export type SegmentRef = TypeOf<typeof segmentRef>;

/** Bodies that lie beside a state, each found by its number: two objects, read by themselves. */
const bodySegmentRef = openRecord({
  /** The bodies, one behind the other, in order of number. */
  bodies: segmentRef,
  /** Which numbers they have, and where each ends (codec/envelope, body index). */
  index: segmentRef,
  firstNumber: integer,
  lastNumber: integer,
});
export type BodySegmentRef = TypeOf<typeof bodySegmentRef>;

const manifestPartition = openRecord({
  name: text<PartitionName>(),
  /** Index of its last section. */
  index: integer,
  /** Hash of its last section: what the next one names as its predecessor. */
  hash: sha256,
  /** Keys, or whatever is counted in its plane. */
  keys: integer,
  /** Order-free digest of its state, hex. */
  digest: text(),
  /** Effects that rebuild the state, to be applied in this order. None: the partition is empty. */
  segments: listOf(segmentRef),
  /** What the state refers to by number, in order of first number; ranges may overlap. Absent: nothing. */
  bodySegments: absent(listOf(bodySegmentRef)),
});
export type ManifestPartition = TypeOf<typeof manifestPartition>;

/** The last entry that a manifest covers. */
const manifestHead = openRecord({
  number: integer,
  hash: sha256,
  epoch: integer,
  clockMs: integer,
  /** Position of the entry's last message. */
  position: integer,
});
export type ManifestHead = TypeOf<typeof manifestHead>;

export const manifest = openRecord({
  shard: text<ShardName>(),
  clusterId: text(),
  head: manifestHead,
  /** In order of name. */
  partitions: listOf(manifestPartition),
  /**
   * Commands of remote callers and the journal clock of the entry that answered each, within
   * `RECENT_COMMANDS_MS` before the head, oldest first: a successor can say "executed" after that entry is gone.
   */
  recentCommandIds: listOf(tuple(text<CommandId>(), integer)),
  createdAtMs: integer,
  /** When the journal stored the head, by its server's clock: audit retention judges by it. */
  headStoredAtMs: integer,
  /** Bytes of all messages the journal ever held up to the head. */
  journalBytes: integer,
});
export type Manifest = TypeOf<typeof manifest>;

/** Longer than any caller repeats a command. */
export const RECENT_COMMANDS_MS = 60_000;
/** Kept in any case: what callers that still repeat can have sent, a megabyte or so. */
export const RECENT_COMMANDS_KEPT = 20_000;
