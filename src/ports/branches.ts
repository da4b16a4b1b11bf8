/** Branches of databases, and undoing an author's writes, for the management API. */
import type { FormerLayout } from '../domain/control/index.js';
import type { ByteString, DatabaseId } from '../kernel/index.js';
import type { PartitionLayout } from '../protocol/index.js';

/** A database as the owner of its partitions needs to know it. */
export interface KnownDatabase {
  readonly isBranch: boolean;
  /** Messages that its commands publish are not sent. */
  readonly holdsMessages: boolean;
}

/** A key as JSON shows it. */
export type JsonKey = string | { readonly base64: string };

/** A database of which a branch is made. */
export interface BranchOrigin extends PartitionLayout {
  readonly id: DatabaseId;
  /** The layout before this one, which has the data of moments up to these positions. */
  readonly former?: Pick<FormerLayout, 'ends'> | undefined;
}

export interface BranchSize {
  /** Bytes of the origin's snapshot that the branch keeps from removal, and of the copied later writes. */
  readonly referredBytes: number;
  readonly copiedBytes: number;
}

export interface BranchDifference {
  readonly key: JsonKey;
  readonly type: string;
  readonly branch: 'created' | 'changed' | 'deleted' | 'same';
  readonly origin: 'created' | 'changed' | 'deleted' | 'same';
  /** Both have changed it, to different values. */
  readonly isConflict: boolean;
}

export interface ComparedBranch {
  readonly branch: DatabaseId;
  readonly origin: DatabaseId;
  /** Of the origin and of the branch, which has the numbers from 0. */
  readonly partitions: number;
  /** The number of the origin's first partition. */
  readonly originFirst: number;
}

export interface BranchSelection {
  /** A glob of keys; undefined: all. */
  readonly keys: ByteString | undefined;
  readonly signal: AbortSignal;
}

export interface MergeOrder extends BranchSelection {
  /** The side that wins a conflict; undefined: a conflict refuses the merge. */
  readonly prefer: 'branch' | 'origin' | undefined;
  readonly isDryRun: boolean;
  /** The author of the writes in the journal. */
  readonly by: string;
}

export interface MergeOutcome {
  /** False for a dry run, and when conflicts refused the merge. */
  readonly isDone: boolean;
  readonly written: number;
  readonly removed: number;
  readonly conflicts: readonly JsonKey[];
}

export interface UndoOrder extends BranchSelection, PartitionLayout {
  readonly database: DatabaseId;
  /** A user, an address, `<user>@<address>`, or a token of the database. */
  readonly of: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly isDryRun: boolean;
  readonly by: string;
}

export interface UndoneKey {
  readonly key: JsonKey;
  readonly change: 'restored' | 'reverted' | 'removed';
  readonly type: string;
  /** The author's writes that are undone. */
  readonly writes: number;
}

export interface UndoConflict {
  readonly key: JsonKey;
  /** The author of the later write; empty: the server, or not known. */
  readonly author: string;
  readonly time: string;
}

export interface UndoOutcome {
  readonly isDone: boolean;
  readonly keys: readonly UndoneKey[];
  readonly conflicts: readonly UndoConflict[];
  /** Writes in the period of which the journal does not name an author. */
  readonly unknownWrites: number;
}

export interface Branches {
  /**
   * Stores the first data of a new branch, before its record.
   * @throws INVALID for a moment that is not kept, CONFLICT for a database that is too large; errors of the journal
   */
  refer(branch: DatabaseId, origin: BranchOrigin, atMs: number | undefined): Promise<number>;
  /** Removes it; missing objects are ignored. */
  forget(branch: DatabaseId): Promise<void>;
  size(branch: DatabaseId, partitions: number): Promise<BranchSize>;
  /**
   * Keys that differ from the first data, or from the origin now.
   * @throws MAILBOX_FULL when too many readings are in progress; INVALID with a text for the caller; errors of the journal
   */
  differences(
    branch: ComparedBranch,
    selection: BranchSelection & { readonly isAgainstNow: boolean },
  ): AsyncIterable<BranchDifference>;
  /** @throws as `differences`; SHARD_UNAVAILABLE, TIMED_OUT, OUTCOME_UNKNOWN: repeating it is safe */
  merge(branch: ComparedBranch, order: MergeOrder): Promise<MergeOutcome>;
  /** The messages that its commands have published, as JSON values, oldest first; and their number. */
  held(
    branch: DatabaseId,
    partitions: number,
  ): Promise<{ readonly count: number; readonly messages: readonly object[] }>;
  /** @throws as `merge` */
  undo(order: UndoOrder): Promise<UndoOutcome>;
}
