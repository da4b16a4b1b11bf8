/**
 * Questions about the past of databases and queues, put to the journal itself. Each is a walk through it, in a thread of
 * its own: it may take long, and stands in nobody's way.
 */
import type { AccountId, ByteString, DatabaseId } from '../kernel/index.js';
import type { Moment } from '../messages/index.js';

export type AuditedPlace =
  | { readonly kind: 'database'; readonly database: DatabaseId; readonly partitions: number }
  | { readonly kind: 'queue'; readonly account: AccountId };

export type AuditTask =
  /** Entries, a text each: position, number, time, index and hashes of the section, its effects. Oldest first. */
  | {
      readonly kind: 'timeline';
      readonly of: AuditedPlace;
      readonly from: Moment | undefined;
      readonly to: Moment | undefined;
      readonly limit: number;
      /** Of a database: only what touches this key, and of its entry only those effects. Left out: everything. */
      readonly key?: ByteString | undefined;
    }
  /** One text about the whole, then one for each key behind `after`, in order of their bytes. */
  | {
      readonly kind: 'state';
      readonly of: Extract<AuditedPlace, { readonly kind: 'database' }>;
      readonly at: Moment;
      readonly after: string | undefined;
      readonly limit: number;
      readonly withValues: boolean;
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
  /** Undefined: all of the installation. Texts are `{"progress": …}`, `{"report": …}`, and at the end `{"done": …}`. */
  | { readonly kind: 'verify'; readonly of: AuditedPlace | undefined };

export interface JournalAudit {
  /**
   * Begins a walk: texts of JSON as they are found. Whoever stops taking them, or aborts, ends it; it is under way until
   * then, also when nobody takes any.
   * @throws at once: MAILBOX_FULL when too many walks are under way, SHUTTING_DOWN; from the iterator: INVALID for a
   *         moment that is not kept or has not come, in words for whoever asked, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE,
   *         SHUTTING_DOWN when it was ended
   */
  run(task: AuditTask, signal: AbortSignal): AsyncIterable<string>;
}
