/**
 * What the journal of a shard is made of. An entry is stored as one message or, when it is too large
 * for one, as a set of chunks closed by a commit. codec/envelope gives all of it its bytes.
 */
import type { CommandId, PartitionName, ShardName } from '../kernel/index.js';

/** A partition's part of a batch, with a chain of its own: one tenant's history is provable without another's. */
export interface Section {
  readonly partition: PartitionName;
  /** 1, 2, 3 … within the partition. */
  readonly index: number;
  /** SHA-256 of the partition's section before this one; 32 zero bytes before the first. */
  readonly previousHash: Uint8Array;
  /** RESP commands for kv, MessagePack events for everything else; concatenated. */
  readonly effects: Uint8Array;
}

interface EntryHeader {
  readonly shard: ShardName;
  /** Fencing token: grows with every change of owner, never falls along the journal. */
  readonly epoch: number;
  /** 16 random bytes, new with every activation of an owner. */
  readonly writer: Uint8Array;
  /** 1, 2, 3 … within the shard; not the position, because chunks have positions too. */
  readonly number: number;
  /** SHA-256 of the bytes of the entry before; 32 zero bytes before the first. */
  readonly previousHash: Uint8Array;
  /** Milliseconds since the epoch, never falling along the journal. */
  readonly clockMs: number;
}

export type EntryBody =
  /** A new owner begins. From here on every older owner's append is refused. */
  | { readonly kind: 'claim'; readonly clusterId: string }
  | { readonly kind: 'batch'; readonly commandIds: readonly CommandId[]; readonly sections: readonly Section[] }
  /** A verified snapshot covers everything up to and including entry `coveredNumber`. */
  | {
      readonly kind: 'snapshot';
      readonly manifest: string;
      readonly digest: Uint8Array;
      readonly coveredNumber: number;
    };

export type Entry = EntryHeader & { readonly body: EntryBody };

/** One stored message of a shard's journal. */
export type JournalMessage =
  | { readonly kind: 'entry'; readonly entry: Entry }
  | {
      readonly kind: 'chunk';
      readonly shard: ShardName;
      readonly epoch: number;
      readonly writer: Uint8Array;
      /** Number of the entry it is a part of. */
      readonly number: number;
      /** 0, 1, 2 … */
      readonly part: number;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: 'commit';
      readonly shard: ShardName;
      readonly epoch: number;
      readonly writer: Uint8Array;
      readonly number: number;
      readonly parts: number;
      /** Bytes of the whole entry. */
      readonly totalBytes: number;
      /** SHA-256 of the whole entry: what the next entry names as `previousHash`. */
      readonly hash: Uint8Array;
      /** The entry's clock, so that whoever reads only the end of a journal knows it. */
      readonly clockMs: number;
    };

const NO_SECTIONS: readonly Section[] = [];

/** What an entry changes; nothing for claims and snapshots. */
export function entrySections({ body }: { readonly body: EntryBody }): readonly Section[] {
  return body.kind === 'batch' ? body.sections : NO_SECTIONS;
}
