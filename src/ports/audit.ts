/** Exports of the audit log: to a URL, and to files. */
import type { AuditExport } from '../domain/control/index.js';
import type { AccountId } from '../kernel/index.js';

export interface AuditExportLag {
  /** The age of the oldest note that the queue has not accepted; 0: none. */
  readonly lagMs: number;
  /** In the control journal; the queue has accepted all notes up to it. */
  readonly position: number;
  /** The age of the oldest message that the URL has not acknowledged; 0: none. */
  readonly undeliveredMs: number;
  /** Why the queue does not accept messages, or the error of the last attempt at the oldest message. */
  readonly problem?: string | undefined;
}

/** Exports to a URL, as the management API needs them. */
export interface AuditExports {
  /** Why the account's queue cannot send to the URL; undefined: it can. */
  refusalOf(account: AccountId, url: string): string | undefined;
  /** The end of the control journal. @throws JOURNAL_UNAVAILABLE */
  endPosition(): Promise<number>;
  /** @throws JOURNAL_UNAVAILABLE, SHARD_UNAVAILABLE */
  lagOf(one: AuditExport): Promise<AuditExportLag>;
}

/**
 * Files of the audit log, one for each day, which only grow.
 *
 *  AF1 a line is complete or absent: a part of a line at the end of the newest file is removed
 *  AF2 appended lines are synced before `append` resolves
 *  AF3 one process has the files from `newest` until `release` or its end; `append` refuses when another program has written
 */
export interface AuditFiles {
  /** As in messages. */
  readonly label: string;
  /**
   * Takes the files, and returns the last line of all, after the removal of a part of a line. Called before the first
   * `append` and after every failure. @throws CONFLICT while another process has them; the error of the file system
   */
  newest(): Promise<NewestLine | undefined>;
  /** @param lines  each with its line feed. @throws CONFLICT (AF3); the error of the file system, which may leave a part of the lines */
  append(day: string, lines: string): Promise<void>;
  /** Gives the files to the next process. */
  release(): void;
}

export interface NewestLine {
  /** `2026-11-30` */
  readonly day: string;
  /** Without its line feed. */
  readonly text: string;
}

/** A continuous export of the audit log that alert rules watch. */
export interface AuditWatch {
  /** Undefined while lines are written, and in a process that does not write them. */
  failure(): { readonly place: string; readonly cause: string; readonly ageMs: number } | undefined;
}
