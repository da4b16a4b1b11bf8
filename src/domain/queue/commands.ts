/**
 * What can be asked of an account's queue, and what it answers. Ids are made by whoever asks: the same command
 * asked twice has one effect. Everything in a command has been validated for its form (publish-settings); the owner
 * judges what depends on state: groups, limits that count, deduplication, flow control.
 */
import type { DlqId, MessageId, ScheduleId } from '../../kernel/index.js';
import type { DlqSelectorBy } from './dead-letters/dlq-selector.js';
import type {
  BodyRef,
  DeliverySettings,
  DlqEntry,
  Envelope,
  GroupEndpoint,
  HeaderList,
  MessageStatus,
  QueueRecord,
  RawSettings,
  Schedule,
  UrlGroup,
} from './records.js';
import type { RunName, WorkflowCommand, WorkflowItem, WorkflowReply } from './runs/commands.js';

export type PublishDestination =
  /** `settings` were parsed where the call came in. */
  | { readonly kind: 'url'; readonly url: string; readonly settings: DeliverySettings }
  | { readonly kind: 'group'; readonly name: string; readonly raw: RawSettings };

export interface PublishItem {
  /** Of a group's messages: the first endpoint's; those of the others follow from it (`messageIdAt`). */
  readonly id: MessageId;
  readonly destination: PublishDestination;
  readonly queueName: string | undefined;
  readonly body: Uint8Array;
  /** Absolute, when the call named an instant; else it follows from the settings' delay. */
  readonly notBeforeMs: number | undefined;
  /** As sent; or the word that asks for one made of the content. */
  readonly deduplication: { readonly id: string } | 'content' | undefined;
  readonly callerIp: string;
  readonly isAlias: boolean;
  /** Of a message of a workflow's run; its destination is a URL, and it is in no queue. */
  readonly workflow?: WorkflowItem | undefined;
}

/** Different filters are and-ed, values within one are or-ed. Empty: everything. */
export interface MessageFilter {
  readonly messageId?: readonly string[];
  readonly url?: readonly string[];
  readonly host?: readonly string[];
  readonly path?: readonly string[];
  readonly topicName?: readonly string[];
  readonly queueName?: readonly string[];
  readonly scheduleId?: readonly string[];
  readonly label?: readonly string[];
  readonly flowControlKey?: readonly string[];
  readonly callerIp?: readonly string[];
  /** Of creation, or of failure for the DLQ; inclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** DLQ only. */
  readonly responseStatus?: readonly number[];
}

export type DlqSelector = DlqSelectorBy<MessageFilter>;

export type MessageSelector =
  | { readonly kind: 'ids'; readonly messageIds: readonly MessageId[] }
  /** `count` undefined: all of them. */
  | { readonly kind: 'filter'; readonly filter: MessageFilter; readonly count: number | undefined };

export interface NewSchedule {
  readonly id: ScheduleId;
  readonly cron: string;
  readonly destination: PublishDestination;
  readonly queueName: string | undefined;
  readonly body: Uint8Array;
  readonly callerIp: string;
  readonly isAlias: boolean;
}

/** What an attempt came to. */
export type AttemptOutcome =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly header: HeaderList;
      /** Up to the account's largest message. */
      readonly body: Uint8Array;
      readonly isCut: boolean;
      readonly durationMs: number;
    }
  | { readonly kind: 'no-response'; readonly error: string; readonly durationMs: number };

export type QueueCommand =
  | WorkflowCommand
  /** All items, or none. `isTold`: was acknowledged from the intake; no limit refuses it any more. */
  | { readonly type: 'Publish'; readonly items: readonly PublishItem[]; readonly isTold: boolean }
  | { readonly type: 'GetMessage'; readonly id: MessageId }
  | { readonly type: 'CancelMessage'; readonly id: MessageId }
  /** Runs in slices; not atomic. */
  | { readonly type: 'CancelMessages'; readonly selector: MessageSelector }
  | { readonly type: 'SetQueue'; readonly name: string; readonly parallelism: number; readonly isPaused: boolean }
  | { readonly type: 'PauseQueue'; readonly name: string; readonly isPaused: boolean }
  | { readonly type: 'DeleteQueue'; readonly name: string }
  | { readonly type: 'GetQueue'; readonly name: string }
  | { readonly type: 'ListQueues' }
  | { readonly type: 'UpsertEndpoints'; readonly group: string; readonly endpoints: readonly GroupEndpoint[] }
  /** A row with a name and no url removes by name, and so on; at least one of the two. */
  | {
      readonly type: 'RemoveEndpoints';
      readonly group: string;
      readonly endpoints: readonly { readonly url: string | undefined; readonly name: string | undefined }[];
    }
  | { readonly type: 'SetGroupDefaults'; readonly group: string; readonly defaults: HeaderList }
  | { readonly type: 'DeleteGroup'; readonly group: string }
  | { readonly type: 'GetGroup'; readonly group: string }
  | { readonly type: 'ListGroups' }
  | { readonly type: 'SetSchedule'; readonly schedule: NewSchedule }
  | { readonly type: 'PauseSchedule'; readonly id: ScheduleId; readonly isPaused: boolean }
  | { readonly type: 'DeleteSchedule'; readonly id: ScheduleId }
  | { readonly type: 'GetSchedule'; readonly id: ScheduleId }
  | { readonly type: 'ListSchedules' }
  | { readonly type: 'GetDlq'; readonly dlqId: DlqId }
  /** Runs in slices where it filters. */
  | { readonly type: 'DeleteDlq'; readonly selector: DlqSelector }
  /** New ids follow from `firstId`. `overrides`: configuration headers of the call, over those of the entry. */
  | {
      readonly type: 'RetryDlq';
      readonly selector: DlqSelector;
      readonly firstId: MessageId;
      readonly overrides: RawSettings;
    }
  | { readonly type: 'GetFlow'; readonly key: string }
  | { readonly type: 'ListFlows'; readonly search: string | undefined }
  | { readonly type: 'PauseFlow'; readonly key: string; readonly isPaused: boolean }
  | {
      readonly type: 'PinFlow';
      readonly key: string;
      readonly parallelism: number | undefined;
      readonly rate: number | undefined;
      readonly periodSeconds: number | undefined;
    }
  | { readonly type: 'UnpinFlow'; readonly key: string; readonly parallelism: boolean; readonly rate: boolean }
  | { readonly type: 'ResetFlow'; readonly key: string; readonly all: boolean }
  | { readonly type: 'GetGlobalParallelism' }
  /** Where the journal of the account stands: a read model that has seen it has seen everything before. */
  | { readonly type: 'GetPosition' }
  // ── from the actor itself ──
  /** `sentBody`: what was sent, for the callbacks; undefined when there are none. */
  | {
      readonly type: 'RecordAttempt';
      readonly id: MessageId;
      readonly retried: number;
      readonly restarts: number;
      readonly outcome: AttemptOutcome;
      readonly sentBody: Uint8Array | undefined;
    }
  | { readonly type: 'TakeIntake'; readonly records: readonly ToldRecord[] };

/** A record of the intake. */
export interface ToldRecord {
  readonly position: number;
  readonly items: readonly PublishItem[];
}

export type QueueCommandOf<Type extends QueueCommand['type']> = Extract<QueueCommand, { readonly type: Type }>;

export type QueueRejection =
  /** 400 */
  | 'INVALID'
  /** 404 */
  | 'NOT_FOUND'
  /** 412: a number of things the account may have. */
  | 'TOO_MANY'
  /** 400, and nothing else of a run's is: its endpoint drops what it has done. */
  | 'RUN_OVER'
  /** 403 */
  | 'SUSPENDED'
  /** 429 */
  | 'DAILY_LIMIT'
  | 'BUDGET'
  /** What the account holds already is as much as it may. */
  | 'FULL';

/** What the account has used of its day; every publish is told. */
export interface DailyUse {
  /** 0: no limit. */
  readonly limit: number;
  readonly remaining: number;
  readonly resetAtMs: number;
  /** Above the soft limit, below the hard one. */
  readonly isAboveSoft: boolean;
}

export interface Published {
  readonly messageId: MessageId;
  readonly url: string;
  readonly isDuplicate: boolean;
  /** That a trigger has started, or found. */
  readonly run?: RunName | undefined;
}

/** A message as it is shown; its body is fetched by number. */
export interface MessageView {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: BodyRef;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly status: MessageStatus;
  readonly retried: number;
}

export interface QueueView extends QueueRecord {
  /** Messages not yet delivered or failed. */
  readonly lag: number;
}

export interface FlowView {
  readonly key: string;
  readonly waiting: number;
  /** Undefined: no limit. */
  readonly parallelism: number | undefined;
  readonly active: number;
  readonly rate: number | undefined;
  readonly started: number;
  readonly periodSeconds: number;
  readonly windowStartedAtMs: number;
  readonly isPaused: boolean;
  readonly isParallelismPinned: boolean;
  readonly isRatePinned: boolean;
}

export type QueueReply =
  | WorkflowReply
  | {
      readonly type: 'Rejected';
      readonly reason: QueueRejection;
      readonly message: string;
      readonly daily?: DailyUse | undefined;
    }
  /** One item for each of the command's: a message, or a list for a group. */
  | {
      readonly type: 'Published';
      readonly results: readonly (Published | readonly Published[])[];
      readonly daily: DailyUse | undefined;
    }
  | { readonly type: 'Message'; readonly message: MessageView; readonly content: Uint8Array | undefined }
  | { readonly type: 'Cancelled'; readonly count: number }
  | { readonly type: 'Done' }
  | { readonly type: 'Queues'; readonly queues: readonly QueueView[] }
  | { readonly type: 'Groups'; readonly groups: readonly UrlGroup[] }
  | {
      readonly type: 'Schedules';
      readonly schedules: readonly { readonly schedule: Schedule; readonly content: Uint8Array | undefined }[];
    }
  | { readonly type: 'ScheduleSet'; readonly id: ScheduleId }
  | {
      readonly type: 'Dlq';
      readonly entry: DlqEntry;
      readonly content: Uint8Array | undefined;
      readonly response: Uint8Array | undefined;
    }
  /** `after`: undefined when there is nothing more. */
  | { readonly type: 'DlqDeleted'; readonly count: number; readonly after: DlqId | undefined }
  | { readonly type: 'DlqRetried'; readonly results: readonly Published[]; readonly after: DlqId | undefined }
  | { readonly type: 'Flows'; readonly flows: readonly FlowView[] }
  | { readonly type: 'GlobalParallelism'; readonly max: number; readonly active: number }
  | { readonly type: 'Position'; readonly position: number };

export type QueueReplyOf<Type extends QueueReply['type']> = Extract<QueueReply, { readonly type: Type }>;
