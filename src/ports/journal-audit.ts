/**
 * Questions about the past of databases and queues, answered from the journal. Each reads through it in a separate
 * thread: it may take long, and does not delay other work.
 */
import type { AccountId, ByteString, DatabaseId } from '../kernel/index.js';
import type { Moment, PartitionLayout } from '../protocol/index.js';

export type AuditedPlace =
  | ({ readonly kind: 'database'; readonly database: DatabaseId } & PartitionLayout)
  | { readonly kind: 'queue'; readonly account: AccountId };

export type AuditTask =
  /** Entries, one text each: position, number, time, index and hashes of the section, its effects. */
  | {
      readonly kind: 'timeline';
      readonly of: AuditedPlace;
      readonly from: Moment | undefined;
      readonly to: Moment | undefined;
      readonly limit: number;
      /** For a database: only entries that touch this key, with only those effects. Undefined: all. */
      readonly key?: ByteString | undefined;
      /** The last entries instead of the first. */
      readonly isNewestFirst?: boolean;
    }
  /**
   * One text about the whole, then one for each key after `after`, in order of their bytes. With a key: only its
   * partition, and only this key.
   */
  | {
      readonly kind: 'state';
      readonly of: Extract<AuditedPlace, { readonly kind: 'database' }>;
      readonly at: Moment;
      readonly after: string | undefined;
      readonly limit: number;
      readonly withValues: boolean;
      readonly key?: ByteString | undefined;
    }
  /** One text for each key that was touched between the moments. */
  | {
      readonly kind: 'diff';
      readonly of: Extract<AuditedPlace, { readonly kind: 'database' }>;
      readonly from: Moment;
      readonly to: Moment;
      readonly limit: number;
      readonly withValues: boolean;
    }
  /** One text for each key by which a branch differs from its first data, or from its origin now. */
  | {
      readonly kind: 'branch';
      readonly of: Extract<AuditedPlace, { readonly kind: 'database' }>;
      readonly origin: DatabaseId;
      /** The number of the origin's first partition; the branch's is 0. */
      readonly originFirst: number;
      readonly isAgainstNow: boolean;
      readonly keys: ByteString | undefined;
      readonly withValues: boolean;
    }
  /** One text for each key to which the author wrote in the period, and one about the whole. */
  | {
      readonly kind: 'undo';
      readonly of: Extract<AuditedPlace, { readonly kind: 'database' }>;
      readonly by: string;
      readonly fromMs: number;
      readonly toMs: number;
      readonly keys: ByteString | undefined;
    }
  /** Undefined: the whole installation. Texts are `{"progress": …}`, `{"report": …}`, and at the end `{"done": …}`. */
  | { readonly kind: 'verify'; readonly of: AuditedPlace | undefined };

export interface JournalAudit {
  /**
   * Starts a reading: JSON texts as they are found. It ends when the consumer stops or aborts; until then it is in
   * progress, also when no text is taken.
   * @throws directly: MAILBOX_FULL when too many are in progress, SHUTTING_DOWN; from the iterator: INVALID for a
   *         moment that is not kept or not reached, with a text for the caller, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE,
   *         SHUTTING_DOWN when it was ended
   */
  run(task: AuditTask, signal: AbortSignal): AsyncIterable<string>;
}
