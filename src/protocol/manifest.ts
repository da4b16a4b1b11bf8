/**
 * The manifest of a snapshot: the entry at which it ends, and for every partition the location of its state and the end
 * of its chain. Manifests and segments are immutable objects; an unchanged partition keeps the segments of the manifest
 * before. The order of fields is the format.
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

/** Bodies of a state, found by number: two objects that are read separately. */
const bodySegmentRef = openRecord({
  /** The bodies in order of number. */
  bodies: segmentRef,
  /** Their numbers, and where each ends (codec/envelope, body index). */
  index: segmentRef,
  firstNumber: integer,
  lastNumber: integer,
});
export type BodySegmentRef = TypeOf<typeof bodySegmentRef>;

const manifestPartition = openRecord({
  name: text<PartitionName>(),
  /** Index of its last section. */
  index: integer,
  /** Hash of its last section, which the next section names. */
  hash: sha256,
  /** Keys, or the objects counted in its plane. */
  keys: integer,
  /** Digest of its state, independent of order, hex. */
  digest: text(),
  /** Effects that rebuild the state, applied in this order. Empty: the partition is empty. */
  segments: listOf(segmentRef),
  /** The bodies to which the state refers, in order of first number; ranges may overlap. Missing: none. */
  bodySegments: absent(listOf(bodySegmentRef)),
  /** Messages that its owner has to send, so it loads the partition at its start. Missing: none. */
  pending: absent(integer),
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
export const manifest = openRecord({
  shard: text<ShardName>(),
  clusterId: text(),
  head: manifestHead,
  /** In order of name. */
  partitions: listOf(manifestPartition),
  /**
   * Commands of remote callers, with the journal clock of the entry that answered each, within `RECENT_COMMANDS_MS`
   * before the head, oldest first: with them a successor can answer "executed" after that entry was removed.
   */
  recentCommandIds: listOf(tuple(text<CommandId>(), integer)),
  createdAtMs: integer,
  /** When the journal stored the head, by its server's clock; audit retention uses it. */
  headStoredAtMs: integer,
  /** Bytes of all messages that the journal ever held up to the head. */
  journalBytes: integer,
});
export type Manifest = TypeOf<typeof manifest>;

/** Longer than any caller repeats a command. */
export const RECENT_COMMANDS_MS = 60_000;
/** Kept in any case: the commands that callers may still repeat, about a megabyte. */
export const RECENT_COMMANDS_KEPT = 20_000;
