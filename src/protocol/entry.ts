/**
 * The parts of a shard's journal. An entry is stored as one message or, when it is too large, as a set of chunks closed
 * by a commit. codec/envelope encodes them.
 */
import type { CommandId, PartitionName, ShardName } from '../kernel/index.js';

/**
 * A partition's part of a batch, with a separate chain, so that one tenant's history can be verified without another's.
 */
export interface Section {
  readonly partition: PartitionName;
  /** 1, 2, 3 … within the partition. */
  readonly index: number;
  /** SHA-256 of the partition's section before this one; 32 zero bytes before the first. */
  readonly previousHash: Uint8Array;
  /** RESP commands for kv, MessagePack events for everything else; concatenated. */
  readonly effects: Uint8Array;
  /** Undefined: not known, as in entries of earlier releases and in queues. */
  readonly authors?: SectionAuthors | undefined;
}

/**
 * The authors of a section's effects: different names, `<user>@<address>`, and then in turn the place of a name and the
 * number of successive effects with it. '' stands for the server itself.
 */
export type SectionAuthors = readonly [names: readonly string[], runs: readonly number[]];

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
  /** Milliseconds since the Unix epoch, never falling along the journal. */
  readonly clockMs: number;
}

export type EntryBody =
  /** The first entry of a new owner: from here on appends of older owners are refused. */
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
      /** The entry's clock, for readers of the journal's end. */
      readonly clockMs: number;
    };

const NO_SECTIONS: readonly Section[] = [];

/** The changes of an entry; none for claims and snapshots. */
export function entrySections({ body }: { readonly body: EntryBody }): readonly Section[] {
  return body.kind === 'batch' ? body.sections : NO_SECTIONS;
}
