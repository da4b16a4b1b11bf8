/** Triggers as the queue endpoint needs them: their start, their lag, and the feed of their records. */
import type { FormerLayout, Trigger, TriggerStart } from '../domain/control/index.js';
import type { AccountTerms } from '../domain/queue/index.js';
import type { DatabaseId } from '../kernel/index.js';
import type { PartitionLayout } from '../protocol/index.js';

/** The end of the journals, or an instant. */
export type TriggerMoment = { readonly kind: 'now' } | { readonly kind: 'time'; readonly atMs: number };

export interface TriggerLag {
  /** Positions of the journals that were not read yet; those of other databases in the same shards count, too. */
  readonly entries: number;
  /** The age of the first entry that was not read yet, in milliseconds; 0: none. */
  readonly lagMs: number;
  /** The reason why it cannot go on: the journal does not have the next entry any more. */
  readonly lost?: string | undefined;
}

export interface FedRecord {
  /** The cursor after this record. */
  readonly cursor: string;
  /** JSON. */
  readonly record: string;
}

export interface FeedPage {
  readonly records: readonly FedRecord[];
  /** The cursor after the page. */
  readonly cursor: string;
}

export interface FeedReader {
  /** The next records, at most `most`; none: the end of the journals is reached for now. @throws as `openFeed` */
  next(most: number, signal: AbortSignal): Promise<FeedPage>;
  /** Releases its memory. */
  close(): void;
}

/** The positions after which a trigger begins, and the first partition of the layout that they belong to; undefined: 0. */
export type TriggerBeginning = Pick<Trigger, 'starts' | 'firstPartition'>;

/** The partitions of a database, and those before the last change of their number. */
export interface LayoutWithFormer extends PartitionLayout {
  readonly former?: FormerLayout | undefined;
}

/** Triggers as a change of the number of partitions needs them. */
export interface TriggeredChange {
  /** The ends of the journals of these layouts. @throws JOURNAL_UNAVAILABLE */
  endsOf(database: DatabaseId, ...layouts: readonly PartitionLayout[]): Promise<readonly TriggerStart[]>;
  /** Whether the account has all records from before the last change. @throws the errors of the queue's gateway */
  hasReadFormer(trigger: Trigger, layout: LayoutWithFormer): Promise<boolean>;
}

export interface Triggers {
  /** The queues that the trigger's messages go through, apart from those of its options. */
  queuesOf(trigger: Trigger): readonly string[];
  /** Removes the empty ones of a deleted trigger; a sweep removes the others once their messages have ended. */
  removeQueues(trigger: Trigger): Promise<void>;
  /** The reason why the trigger is not valid: a pattern, the filter, the destination or an option. */
  problemOf(trigger: Trigger, terms: AccountTerms): string | undefined;
  /** The positions of the database's shards at that moment. @throws INVALID for one that is not kept; JOURNAL_UNAVAILABLE */
  startsAt(database: DatabaseId, layout: LayoutWithFormer, moment: TriggerMoment): Promise<TriggerBeginning>;
  /** @throws JOURNAL_UNAVAILABLE, and the errors of the queue's gateway */
  lagOf(trigger: Trigger, layout: LayoutWithFormer): Promise<TriggerLag>;
  /** @param cursor undefined: the trigger's start. @throws INVALID for another cursor, or one that is not kept any more */
  openFeed(trigger: Trigger, layout: LayoutWithFormer, cursor: string | undefined): FeedReader;
}
