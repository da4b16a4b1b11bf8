/**
 * What the queue of an account is made of. Header names are canonical (`Content-Type`) and in the neutral
 * spelling; instants are milliseconds since the Unix epoch unless a name says otherwise. Fields that are
 * `undefined` were not given.
 */
import type { DlqId, MessageId, ScheduleId } from '../../kernel/index.js';

/** Stored by their place: new ones come last. */
export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** A body has no meaning with the others, and many servers refuse a request for it. */
export function carriesBody(method: HttpMethod): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** In the order in which they are sent; a name may come more than once. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Configuration as it came, for what can only be judged with a group's defaults under it. */
export interface RawSettings {
  /** All request headers that count: lower-case neutral names; configuration, Content-Type and, for header-forward, the rest. */
  readonly headers: HeaderList;
  /** Configuration from the query, lower-case neutral names. Headers win over it. */
  readonly query: HeaderList;
}

export interface FlowControlSetting {
  readonly key: string;
  /** At least one of the two is there. */
  readonly parallelism: number | undefined;
  /** Starts within one period. */
  readonly rate: number | undefined;
  /** 1 when not given. */
  readonly periodSeconds: number;
}

export interface Redaction {
  readonly body: boolean;
  readonly allHeaders: boolean;
  /** Canonical names. */
  readonly headers: readonly string[];
}

/** Where the outcome of a message is sent as a message of its own, and how. */
export interface CallbackSetting {
  readonly url: string;
  readonly settings: DeliverySettings;
}

/** How a message is delivered: of a message itself, of its callback, of what a schedule makes. */
export interface DeliverySettings {
  readonly method: HttpMethod;
  /** What is sent to the destination beside the queue's own headers. */
  readonly header: HeaderList;
  /** Attempts are one more. */
  readonly maxRetries: number;
  /** Expression for the delay before a retry, milliseconds, as it was sent. */
  readonly retryDelay: string | undefined;
  /** Shortens the account's longest attempt. */
  readonly timeoutSeconds: number | undefined;
  /** Before the first attempt; 0: none. */
  readonly delaySeconds: number;
  readonly callback: CallbackSetting | undefined;
  readonly failureCallback: CallbackSetting | undefined;
  readonly flowControl: FlowControlSetting | undefined;
  readonly labels: readonly string[];
  readonly redact: Redaction | undefined;
}

/** Of a message of a run; part of its envelope, so alike for all runs of a kind. */
export interface WorkflowMark {
  /** An answer without the protocol's version is not a workflow endpoint's: the run fails at once. */
  readonly detectsTrigger: boolean;
  /** Started by a REST trigger: the endpoint has to be new enough for it, or the run fails at once. */
  readonly needsRecentClient: boolean;
  /** The endpoint can fetch the list of entries itself, when a delivery leaves it out. */
  readonly canFetch: boolean;
  /** The trigger's settings hold for all messages of the run; else each message brings its own. */
  readonly isConfiguredByTrigger: boolean;
}

/**
 * All that messages which were published alike share. The state keeps one object for equal envelopes:
 * it is compared by its bytes (codec/queue), never changed.
 */
export interface Envelope {
  /** As it is called, also the `sub` of the signature. */
  readonly url: string;
  readonly settings: DeliverySettings;
  readonly queueName: string | undefined;
  readonly scheduleId: ScheduleId | undefined;
  /** URL group, and the endpoint's name in it. */
  readonly topicName: string | undefined;
  readonly endpointName: string | undefined;
  /** The publisher's address. */
  readonly callerIp: string;
  /** Accepted by an alias request: its records are in that spelling for a reader who shows neither. */
  readonly isAlias: boolean;
  /** Set on a callback message: whose outcome it carries. */
  readonly callbackOf: MessageId | undefined;
  /** Of a message of a workflow's run. */
  readonly workflow?: WorkflowMark | undefined;
}

/**
 * A body in the account's own numbering: 1, 2, 3 … in order of acceptance; 0: empty. The state knows the number
 * and the length only; where the bytes are (memory, journal, body segments) is the actor's business.
 */
export interface BodyRef {
  readonly number: number;
  readonly bytes: number;
}

/** A body that comes with its event, or one that an earlier event brought (`bytes` undefined). */
export interface CarriedBody extends BodyRef {
  readonly content: Uint8Array | undefined;
}

/**
 *  waiting    not due yet, or due and without a free place (of its queue, flow-control key, origin, account)
 *  active     an attempt is journaled and not yet concluded
 *  delivered  kept readable for `DELIVERED_GRACE_MS`, then forgotten
 */
export type MessageStatus = 'waiting' | 'active' | 'delivered';

/** What came back last; of a message in the DLQ. */
export interface LastResponse {
  /** 0: there was no HTTP response. */
  readonly status: number;
  readonly header: HeaderList;
  readonly body: BodyRef;
  /** A reason in words: `HTTP status 500`, `connection refused`. */
  readonly error: string;
}

export interface DlqEntry {
  readonly dlqId: DlqId;
  readonly messageId: MessageId;
  readonly envelope: Envelope;
  readonly body: BodyRef;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly failedAtMs: number;
  readonly retried: number;
  readonly response: LastResponse;
}

export interface GroupEndpoint {
  readonly url: string;
  readonly name: string | undefined;
}

export interface UrlGroup {
  readonly name: string;
  readonly endpoints: readonly GroupEndpoint[];
  /** Configuration headers, lower-case neutral names; defaults of every publish to the group. */
  readonly defaults: HeaderList;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What a client asks of a queue; the rest is counted. */
export interface QueueRecord {
  readonly name: string;
  readonly parallelism: number;
  readonly isPaused: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type ScheduleDestination =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'group'; readonly name: string };

/** Of the messages of the latest tick. */
export type ScheduleOutcome = 'IN_PROGRESS' | 'SUCCESS' | 'FAIL';

export interface Schedule {
  readonly id: ScheduleId;
  /** As sent, trimmed; with its `CRON_TZ=` prefix. */
  readonly cron: string;
  readonly destination: ScheduleDestination;
  readonly settings: DeliverySettings;
  /** Of a schedule for a group: the configuration headers as sent, for defaults to be put under. */
  readonly ownHeaders: HeaderList;
  readonly queueName: string | undefined;
  readonly body: BodyRef;
  readonly callerIp: string;
  readonly isAlias: boolean;
  readonly isPaused: boolean;
  readonly createdAtMs: number;
  /** 0: never yet. */
  readonly lastTickAtMs: number;
  readonly nextTickAtMs: number;
  readonly lastOutcomes: ReadonlyMap<MessageId, ScheduleOutcome>;
}

/** Bounds of one account, by the names of its record; 0 where it says so: no limit. */
export interface AccountLimits {
  /** Bytes of a body; callback bodies are cut so that they fit. */
  readonly maxMessageBytes: number;
  /** Messages a UTC day: above the first the account is told, above the second refused. 0: no limit. */
  readonly maxMessagesPerDay: number;
  readonly maxMessagesPerDayHard: number;
  readonly maxRequestsPerSecond: number;
  readonly maxEndpointsPerGroup: number;
  readonly maxDlqEntries: number;
  readonly maxRetries: number;
  readonly maxGroups: number;
  readonly maxSchedules: number;
  /** Events kept for the logs. */
  readonly maxEvents: number;
  readonly dlqRetentionMs: number;
  readonly maxDelaySeconds: number;
  /** Of one queue. */
  readonly maxParallelism: number;
  /** Attempts at once, all in all. */
  readonly maxGlobalParallelism: number;
  readonly maxQueues: number;
  /** Longest attempt. */
  readonly timeoutSeconds: number;
  /** Cents a UTC month; 0: no limit. */
  readonly budgetCents: number;
}

/** `passive`: suspended by an operator. Nothing is taken and nothing delivered, and nothing is lost. */
export type AccountState = 'active' | 'passive';

export interface AccountFacts {
  readonly state: AccountState;
  readonly limits: AccountLimits;
  /** Cents for 100,000 messages, by the operator's price list. */
  readonly centsPer100kMessages: number;
}
