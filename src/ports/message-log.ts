/** The read models of an account's queue: the log of its messages, and the list of its DLQ. */
import type { DlqSelector, Envelope, HeaderList, MessageFilter } from '../domain/queue/index.js';
import type { AccountId, DlqId, MessageId } from '../kernel/index.js';
import type { Counts, MaybeBehind } from './behind.js';

export const MESSAGE_STATES = [
  'CREATED',
  'ACTIVE',
  'RETRY',
  'ERROR',
  'DELIVERED',
  'FAILED',
  'CANCEL_REQUESTED',
  'CANCELED',
] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export interface LogQuery {
  readonly filter: MessageFilter;
  /** Empty: any. */
  readonly states: readonly MessageState[];
  readonly order: 'earliestFirst' | 'latestFirst';
  readonly count: number;
  /** From the page before. */
  readonly cursor: string | undefined;
  /** By message, `count` counts messages, each with all its matching events. */
  readonly groupBy?: 'message' | undefined;
  /** Also the kept answers to successful attempts. */
  readonly withAnswers?: boolean | undefined;
  /** Bytes of each body to return, of messages and responses; 0 or less: none; undefined: all. */
  readonly trimBytes?: number | undefined;
}

export interface LogEvent {
  readonly atMs: number;
  readonly state: MessageState;
  readonly messageId: MessageId;
  readonly envelope: Envelope;
  /** The body of the message. */
  readonly body: Uint8Array;
  /** True when the body was cut. */
  readonly isBodyCut?: boolean | undefined;
  readonly nextDeliveryAtMs: number | undefined;
  readonly error: string | undefined;
  /** Set with ERROR, and on request with DELIVERED while the answer is kept. */
  readonly response:
    | {
        readonly status: number;
        readonly header: HeaderList;
        readonly body: Uint8Array;
        readonly isCut?: boolean | undefined;
        readonly durationMs?: number | undefined;
      }
    | undefined;
}

export interface LogPage extends MaybeBehind {
  readonly events: readonly LogEvent[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
}

export interface DlqRow {
  readonly dlqId: DlqId;
  readonly messageId: MessageId;
  readonly envelope: Envelope;
  readonly body: Uint8Array;
  readonly isBodyCut?: boolean | undefined;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly failedAtMs: number;
  readonly retried: number;
  readonly response: {
    readonly status: number;
    readonly header: HeaderList;
    readonly body: Uint8Array;
    readonly isCut?: boolean | undefined;
    readonly error: string;
  };
}

export interface DlqPage extends MaybeBehind {
  readonly entries: readonly DlqRow[];
  /** The last id of the page, when there may be more. */
  readonly after: DlqId | undefined;
}

export interface BacklogQuery {
  readonly queueName: string;
  /** Ascending. */
  readonly momentsMs: readonly number[];
  /** The instant since which the oldest message that has not ended is due; in the future when there is none. */
  readonly waitingSinceMs: number;
}

/** The age of a queue's backlog in the past. */
export interface Backlog extends MaybeBehind {
  /** Moments with the age in milliseconds; the moments that the log does not reach are left out. */
  readonly points: readonly (readonly [atMs: number, ageMs: number])[];
}

export interface MessageLog {
  /**
   * @param seen  a position of the account's journal (`GetPosition`): answered once the read model has read it, or
   *              after a bounded wait with the present data, and then `behind` says how old that is
   * @throws SHARD_UNAVAILABLE when no process with the read model answers
   */
  events(account: AccountId, query: LogQuery, seen: number): Promise<LogPage>;
  /** @param trimBytes  as in the log */
  dlq(account: AccountId, selector: DlqSelector, seen: number, trimBytes?: number): Promise<DlqPage>;
  /** Events by state. @param states empty: any */
  eventCounts(
    account: AccountId,
    filter: MessageFilter,
    states: readonly MessageState[],
    seen: number,
  ): Promise<Counts>;
  /** Entries of the DLQ by the status of their last response; 0: there was none. */
  dlqCounts(account: AccountId, filter: MessageFilter, seen: number): Promise<Counts>;
  backlog(account: AccountId, query: BacklogQuery, seen: number): Promise<Backlog>;
}
