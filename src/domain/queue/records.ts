/**
 * What the queue of an account is made of. Header names are canonical (`Content-Type`) and in the neutral
 * spelling; instants are milliseconds since the Unix epoch unless a name says otherwise. Fields that are
 * `undefined` were not given.
 *
 * The order of fields is the format (S1 of kernel/schema).
 */
import type { DlqId, MessageId, ScheduleId } from '../../kernel/index.js';
import {
  bytes,
  flag,
  integer,
  kind,
  later,
  listOf,
  mapOf,
  oneOf,
  openRecord,
  optional,
  pairsOfTexts,
  type RecordType,
  record,
  type Shape,
  sharedBytes,
  type TypeOf,
  text,
  trailing,
  union,
  whole,
  wordOf,
} from '../../kernel/schema/index.js';

export const messageId = text<MessageId>();
export const scheduleId = text<ScheduleId>();
export const dlqId = text<DlqId>();
export const texts = listOf(text());
export const optionalText = optional(text());
export const content = optional(bytes);

/** Stored by their place: new ones come last. */
export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** A body has no meaning with the others, and many servers refuse a request for it. */
export function carriesBody(method: HttpMethod): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** In the order in which they are sent; a name may come more than once. */
export type HeaderList = readonly (readonly [name: string, value: string])[];
export const headerList: Shape<HeaderList> = pairsOfTexts;

/** Configuration as it came, for what can only be judged with a group's defaults under it. */
export const rawSettings = record({
  /** All request headers that count: lower-case neutral names; configuration, Content-Type and, for header-forward, the rest. */
  headers: headerList,
  /** Configuration from the query, lower-case neutral names. Headers win over it. */
  query: headerList,
});
export type RawSettings = TypeOf<typeof rawSettings>;

const flowControl = record({
  key: text(),
  /** At least one of the two is there. */
  parallelism: optional(whole),
  /** Starts within one period. */
  rate: optional(whole),
  /** 1 when not given. */
  periodSeconds: whole,
});
export type FlowControlSetting = TypeOf<typeof flowControl>;

const redaction = record({
  body: flag,
  allHeaders: flag,
  /** Canonical names. */
  headers: texts,
});
export type Redaction = TypeOf<typeof redaction>;

/** Where the outcome of a message is sent as a message of its own, and how. */
export interface CallbackSetting {
  readonly url: string;
  readonly settings: DeliverySettings;
}
const callback: Shape<CallbackSetting> = record({ url: text(), settings: later(() => settings) });

/** How a message is delivered: of a message itself, of its callback, of what a schedule makes. */
export const settings = record({
  method: oneOf(...HTTP_METHODS),
  /** What is sent to the destination beside the queue's own headers. */
  header: headerList,
  /** Attempts are one more. */
  maxRetries: whole,
  /** Expression for the delay before a retry, milliseconds, as it was sent. */
  retryDelay: optionalText,
  /** Shortens the account's longest attempt. */
  timeoutSeconds: optional(whole),
  /** Before the first attempt; 0: none. */
  delaySeconds: whole,
  callback: optional(callback),
  failureCallback: optional(callback),
  flowControl: optional(flowControl),
  labels: texts,
  redact: optional(redaction),
});
export type DeliverySettings = TypeOf<typeof settings>;

/** It is the mark of a message of a run; part of its envelope, so alike for all runs of a kind. */
export const workflowMark = record({
  /** An answer without the protocol's version is not a workflow endpoint's: the run fails at once. */
  detectsTrigger: flag,
  /** Started by a REST trigger: the endpoint has to be new enough for it, or the run fails at once. */
  needsRecentClient: flag,
  /** The endpoint can fetch the list of entries itself, when a delivery leaves it out. */
  canFetch: flag,
  /** The trigger's settings hold for all messages of the run; else each message brings its own. */
  isConfiguredByTrigger: flag,
});
export type WorkflowMark = TypeOf<typeof workflowMark>;

/**
 * All that messages which were published alike share. The state keeps one object for equal envelopes:
 * it is compared by its bytes, never changed.
 */
export const envelope = sharedBytes(
  record({
    /** It is what is called, also the `sub` of the signature. */
    url: text(),
    settings,
    queueName: optionalText,
    scheduleId: optional(scheduleId),
    /** URL group, and the endpoint's name in it. */
    topicName: optionalText,
    endpointName: optionalText,
    /** The publisher's address. */
    callerIp: text(),
    /** Accepted by an alias request: its records are in that spelling for a reader who shows neither. */
    isAlias: flag,
    /** Set on a callback message: whose outcome it carries. */
    callbackOf: optional(messageId),
    /** It is there for a message of a workflow's run. */
    workflow: trailing(workflowMark),
  }),
);
export type Envelope = TypeOf<typeof envelope>;

/**
 * A body in the account's own numbering: 1, 2, 3 … in order of acceptance; 0: empty. The state knows the number
 * and the length only; where the bytes are (memory, journal, body segments) is the actor's business.
 */
export const bodyRefFields = { number: whole, bytes: whole };
export const bodyRef = record(bodyRefFields);
export type BodyRef = TypeOf<typeof bodyRef>;

/** A body that comes with its event, or one that an earlier event brought (`bytes` undefined). */
export const carriedBodyFields = { ...bodyRefFields, content };
export const carriedBody = record(carriedBodyFields);
export type CarriedBody = TypeOf<typeof carriedBody>;

/**
 *  waiting    not due yet, or due and without a free place (of its queue, flow-control key, origin, account)
 *  active     an attempt is journaled and not yet concluded
 *  delivered  kept readable for `DELIVERED_GRACE_MS`, then forgotten
 */
export const messageStatus = oneOf('waiting', 'active', 'delivered');
export type MessageStatus = TypeOf<typeof messageStatus>;

/** What came back last; of a message in the DLQ. */
const lastResponse = record({
  /** 0: there was no HTTP response. */
  status: whole,
  header: headerList,
  body: bodyRef,
  /** A reason in words: `HTTP status 500`, `connection refused`. */
  error: text(),
});
export type LastResponse = TypeOf<typeof lastResponse>;

export const dlqEntry = record({
  dlqId,
  messageId,
  envelope,
  body: bodyRef,
  createdAtMs: whole,
  notBeforeMs: whole,
  failedAtMs: whole,
  retried: whole,
  response: lastResponse,
});
export type DlqEntry = TypeOf<typeof dlqEntry>;

const endpoint = record({ url: text(), name: optionalText });
export type GroupEndpoint = TypeOf<typeof endpoint>;

export const endpoints = listOf(endpoint);

export const urlGroup = record({
  name: text(),
  endpoints,
  /** Configuration headers, lower-case neutral names; defaults of every publish to the group. */
  defaults: headerList,
  createdAtMs: whole,
  updatedAtMs: whole,
});
export type UrlGroup = TypeOf<typeof urlGroup>;

/** What a client asks of a queue; the rest is counted. */
export const queueFields = { name: text(), parallelism: whole, isPaused: flag, createdAtMs: whole, updatedAtMs: whole };
export type QueueRecord = RecordType<typeof queueFields>;

const scheduleDestination = union('kind', {
  url: kind(1, { url: text() }),
  group: kind(2, { name: text() }),
});
export type ScheduleDestination = TypeOf<typeof scheduleDestination>;

/** It is the outcome of the messages of the latest tick. */
const outcome = oneOf('IN_PROGRESS', 'SUCCESS', 'FAIL');
export type ScheduleOutcome = TypeOf<typeof outcome>;

/** A schedule without its body and what its ticks came to. */
export const scheduleFields = {
  id: scheduleId,
  /** It is what was sent, trimmed; with its `CRON_TZ=` prefix. */
  cron: text(),
  destination: scheduleDestination,
  settings,
  /** A schedule for a group has them: the configuration headers as sent, for defaults to be put under. */
  ownHeaders: headerList,
  queueName: optionalText,
  callerIp: text(),
  isAlias: flag,
  isPaused: flag,
  createdAtMs: whole,
  nextTickAtMs: whole,
};

export const schedule = record({
  ...scheduleFields,
  body: bodyRef,
  /** 0: never yet. */
  lastTickAtMs: whole,
  lastOutcomes: mapOf(messageId, outcome),
});
export type Schedule = TypeOf<typeof schedule>;

/** Bounds of one account, by the names of its record; 0 where it says so: no limit. */
export const accountLimitFields = {
  /** Bytes of a body; callback bodies are cut so that they fit. */
  maxMessageBytes: integer,
  /** Messages a UTC day: above the first the account is told, above the second refused. 0: no limit. */
  maxMessagesPerDay: integer,
  maxMessagesPerDayHard: integer,
  maxRequestsPerSecond: integer,
  maxEndpointsPerGroup: integer,
  maxDlqEntries: integer,
  maxRetries: integer,
  maxGroups: integer,
  maxSchedules: integer,
  /** Events kept for the logs. */
  maxEvents: integer,
  dlqRetentionMs: integer,
  maxDelaySeconds: integer,
  /** It bounds one queue. */
  maxParallelism: integer,
  /** Attempts at once, all in all. */
  maxGlobalParallelism: integer,
  maxQueues: integer,
  /** Longest attempt. */
  timeoutSeconds: integer,
  /** Cents a UTC month; 0: no limit. */
  budgetCents: integer,
};
export const accountLimits = openRecord(accountLimitFields);
export type AccountLimits = TypeOf<typeof accountLimits>;

/** `passive`: suspended by an operator. Nothing is taken and nothing delivered, and nothing is lost. */
export const accountState = wordOf('active', 'passive');
export type AccountState = TypeOf<typeof accountState>;

export interface AccountTerms {
  readonly state: AccountState;
  readonly limits: AccountLimits;
  /** Cents for 100,000 messages, by the operator's price list. */
  readonly centsPer100kMessages: number;
}
