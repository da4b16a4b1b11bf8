/**
 * What happened in an account's queue. A shape that was written once is kept for ever; codec/queue gives each
 * its bytes. Events are absolute: whatever follows from limits, clocks or dice was decided before they were made.
 *
 * State that only grows old (delivered messages, deduplication, remembered ids) is forgotten by `evolve` from
 * the time of later events, so that every fold of one journal ends alike.
 *
 * The last group is found in snapshots only.
 */
import type { DlqId, MessageId, ScheduleId } from '../../kernel/index.js';
import type {
  BodyRef,
  CarriedBody,
  DlqEntry,
  Envelope,
  GroupEndpoint,
  HeaderList,
  MessageStatus,
  Schedule,
  UrlGroup,
} from './records.js';
import type { WorkflowEvent } from './runs/events.js';
import type { RunPart } from './runs/records.js';

export type QueueEvent =
  | WorkflowEvent
  // ── messages ──
  | {
      readonly type: 'MessageAccepted';
      readonly id: MessageId;
      readonly atMs: number;
      readonly envelope: Envelope;
      readonly body: CarriedBody;
      readonly notBeforeMs: number;
      /** Reserved by this acceptance, hashed; in force for `DEDUPLICATION_WINDOW_MS`. */
      readonly deduplication: string | undefined;
      /** The DLQ entry that it replaces; the entry leaves with a `DlqRetried` of the same turn. */
      readonly retryOf: DlqId | undefined;
      /** The message that holds a place in a queue until this callback has come to its end. */
      readonly holdsPlaceOf: MessageId | undefined;
      /** Of a message of a workflow's run. */
      readonly workflow?: RunPart | undefined;
    }
  /** Journaled before the call is made. `retried`: retries made before this attempt. `restarts`: after crashes. */
  | {
      readonly type: 'AttemptStarted';
      readonly id: MessageId;
      readonly atMs: number;
      readonly retried: number;
      readonly restarts: number;
    }
  | {
      readonly type: 'MessageDelivered';
      readonly id: MessageId;
      readonly atMs: number;
      readonly status: number;
      readonly durationMs: number;
    }
  /** And will be tried again at `nextAtMs`; undefined: the last one, a `MessageDeadLettered` or `MessageCancelled` follows. */
  | {
      readonly type: 'AttemptFailed';
      readonly id: MessageId;
      readonly atMs: number;
      readonly status: number;
      readonly durationMs: number;
      readonly error: string;
      readonly header: HeaderList;
      /** At most `KEPT_RESPONSE_BYTES`. */
      readonly response: Uint8Array;
      readonly nextAtMs: number | undefined;
    }
  | {
      readonly type: 'MessageDeadLettered';
      readonly id: MessageId;
      readonly dlqId: DlqId;
      readonly atMs: number;
      readonly status: number;
      readonly error: string;
      readonly header: HeaderList;
      readonly response: CarriedBody;
    }
  | { readonly type: 'CancelRequested'; readonly id: MessageId; readonly atMs: number }
  | { readonly type: 'MessageCancelled'; readonly id: MessageId; readonly atMs: number }
  // ── DLQ ──
  | { readonly type: 'DlqDeleted'; readonly dlqIds: readonly DlqId[]; readonly atMs: number }
  /** By age, or by number when the DLQ is full. */
  | { readonly type: 'DlqExpired'; readonly dlqIds: readonly DlqId[]; readonly atMs: number }
  | { readonly type: 'DlqRetried'; readonly dlqId: DlqId; readonly as: MessageId; readonly atMs: number }
  // ── URL groups: absolute ──
  | {
      readonly type: 'GroupSet';
      readonly name: string;
      readonly endpoints: readonly GroupEndpoint[];
      readonly defaults: HeaderList;
      readonly atMs: number;
    }
  | { readonly type: 'GroupDeleted'; readonly name: string; readonly atMs: number }
  // ── queues ──
  | {
      readonly type: 'QueueSet';
      readonly name: string;
      readonly parallelism: number;
      readonly isPaused: boolean;
      readonly atMs: number;
    }
  /** Its waiting messages were cancelled before. */
  | { readonly type: 'QueueDeleted'; readonly name: string; readonly atMs: number }
  // ── schedules ──
  | {
      readonly type: 'ScheduleSet';
      readonly schedule: Omit<Schedule, 'body' | 'lastTickAtMs' | 'lastOutcomes'>;
      readonly body: CarriedBody;
      readonly atMs: number;
    }
  | { readonly type: 'ScheduleDeleted'; readonly id: ScheduleId; readonly atMs: number }
  | {
      readonly type: 'SchedulePaused';
      readonly id: ScheduleId;
      readonly isPaused: boolean;
      readonly nextTickAtMs: number;
      readonly atMs: number;
    }
  /** The `MessageAccepted` of its messages stand before it in the same entry. */
  | {
      readonly type: 'ScheduleFired';
      readonly id: ScheduleId;
      readonly tickAtMs: number;
      readonly messages: readonly MessageId[];
      readonly nextTickAtMs: number;
      readonly atMs: number;
    }
  | {
      readonly type: 'ScheduleSkipped';
      readonly id: ScheduleId;
      readonly tickAtMs: number;
      readonly nextTickAtMs: number;
      readonly reason: 'late' | 'paused' | 'suspended' | 'no-destination' | 'full';
      readonly atMs: number;
    }
  // ── flow control; a key's limits follow from the messages that name it ──
  | { readonly type: 'FlowPaused'; readonly key: string; readonly isPaused: boolean; readonly atMs: number }
  /** Undefined: that limit is not pinned by this. */
  | {
      readonly type: 'FlowPinned';
      readonly key: string;
      readonly parallelism: number | undefined;
      readonly rate: number | undefined;
      readonly periodSeconds: number | undefined;
      readonly atMs: number;
    }
  | {
      readonly type: 'FlowUnpinned';
      readonly key: string;
      readonly parallelism: boolean;
      readonly rate: boolean;
      readonly atMs: number;
    }
  /** A new window begins now; with `all` the count of active calls begins anew too. */
  | { readonly type: 'FlowReset'; readonly key: string; readonly all: boolean; readonly atMs: number }
  // ── the account ──
  /** Everything up to this position of the intake is accepted. */
  | { readonly type: 'IntakeTaken'; readonly position: number; readonly atMs: number }
  /** Once a day. */
  | { readonly type: 'DailyLimitReached'; readonly limit: number; readonly messages: number; readonly atMs: number }
  // ── in snapshots only ──
  | {
      readonly type: 'MessageRestored';
      readonly id: MessageId;
      readonly envelope: Envelope;
      readonly body: BodyRef;
      readonly createdAtMs: number;
      readonly notBeforeMs: number;
      readonly dueAtMs: number;
      readonly status: MessageStatus;
      readonly retried: number;
      readonly restarts: number;
      /** Of an attempt, or of the delivery. */
      readonly sinceMs: number;
      readonly isCancelRequested: boolean;
      readonly order: number;
      readonly holdsPlaceOf: MessageId | undefined;
      readonly workflow?: RunPart | undefined;
    }
  | { readonly type: 'DlqRestored'; readonly entry: DlqEntry }
  | { readonly type: 'GroupRestored'; readonly group: UrlGroup }
  | {
      readonly type: 'QueueRestored';
      readonly name: string;
      readonly parallelism: number;
      readonly isPaused: boolean;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      /** Messages that hold a place, each with how many of its callbacks have not come to their end. */
      readonly places: readonly (readonly [MessageId, number])[];
    }
  | { readonly type: 'ScheduleRestored'; readonly schedule: Schedule }
  | {
      readonly type: 'FlowRestored';
      readonly key: string;
      readonly parallelism: number | undefined;
      readonly rate: number | undefined;
      readonly periodSeconds: number;
      readonly isPaused: boolean;
      readonly isParallelismPinned: boolean;
      readonly isRatePinned: boolean;
      readonly active: number;
      readonly started: number;
      readonly windowStartedAtMs: number;
      readonly usedAtMs: number;
    }
  | { readonly type: 'DeduplicationRestored'; readonly entries: readonly (readonly [string, MessageId, number])[] }
  /** Remembered ids, packed: see accepted-ids. */
  | { readonly type: 'AcceptedIdsRestored'; readonly generation: number; readonly packed: Uint8Array }
  | {
      readonly type: 'AccountRestored';
      readonly nextBody: number;
      readonly nextOrder: number;
      readonly nextDlq: number;
      readonly intakePosition: number;
      readonly nowMs: number;
      /** Days since the epoch, and months since year 0; with what was counted in each. */
      readonly day: number;
      readonly messagesToday: number;
      readonly month: number;
      readonly messagesThisMonth: number;
      readonly isDailyLimitReached: boolean;
    };

export type QueueEventOf<Type extends QueueEvent['type']> = Extract<QueueEvent, { readonly type: Type }>;
