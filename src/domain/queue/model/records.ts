/**
 * Records of a queue account. Header names are canonical (`Content-Type`) and in the neutral spelling; instants are
 * milliseconds since the Unix epoch unless a name says otherwise. `undefined` fields were not given.
 * The order of fields is the stored format: SHP1 (a field is never moved or removed; a new one comes last).
 */
import type { DlqId, MessageId, ScheduleId } from '../../../kernel/index.js';
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
} from '../../../kernel/schema/index.js';

export const messageId = text<MessageId>();
export const scheduleId = text<ScheduleId>();
export const dlqId = text<DlqId>();
export const texts = listOf(text());
export const optionalText = optional(text());
export const content = optional(bytes);

/** Stored by index: add new ones at the end. */
export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** GET and HEAD have no body: it has no meaning there, and many servers refuse it. */
export function carriesBody(method: HttpMethod): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Headers in the order in which they are sent; names may repeat. Each character of a value is one byte of the header,
 * sent unchanged; `textOfHeader` decodes it.
 */
export type HeaderList = readonly (readonly [name: string, value: string])[];
export const headerList: Shape<HeaderList> = pairsOfTexts;

/** Unparsed configuration, kept for settings that are judged together with a group's defaults. */
export const rawSettings = record({
  /**
   * Relevant request headers in lower-case neutral names: configuration, Content-Type and, for header-forward, the
   * rest.
   */
  headers: headerList,
  /** Configuration from the query, lower-case neutral names. Headers win over it. */
  query: headerList,
});
export type RawSettings = TypeOf<typeof rawSettings>;

const flowControl = record({
  key: text(),
  /** At least one of `parallelism` and `rate` is set. */
  parallelism: optional(whole),
  /** Starts per period. */
  rate: optional(whole),
  /** Default 1. */
  periodSeconds: whole,
});
export type FlowControlSetting = TypeOf<typeof flowControl>;

const hiddenParts = {
  body: flag,
  allHeaders: flag,
  /** Canonical names. */
  headers: texts,
};
/** The hidden parts of a message, or of the answers to it. */
export type HiddenParts = RecordType<typeof hiddenParts>;

const redaction = record({
  ...hiddenParts,
  /** Of the answers; undefined: they are shown. */
  response: trailing(record(hiddenParts)),
});
export type Redaction = TypeOf<typeof redaction>;

/** From the first to the last class. Stored by index: the order never changes. */
export const PRIORITIES = ['highest', 'high', 'normal', 'low', 'lowest'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Stored by index: the order never changes. */
export const MESSAGES_WHEN_STOPPED = ['wait', 'dlq'] as const;

/** URL and settings of the message that reports the outcome of another. */
export interface CallbackSetting {
  readonly url: string;
  readonly settings: DeliverySettings;
}
const callback: Shape<CallbackSetting> = record({ url: text(), settings: later(() => settings) });

/** Delivery settings of a message, of its callback, or of a schedule's messages. */
export const settings = record({
  method: oneOf(...HTTP_METHODS),
  /** Headers sent to the destination in addition to the queue's own. */
  header: headerList,
  /** The number of attempts is one more. */
  maxRetries: whole,
  /** The expression for the delay before a retry in milliseconds, as it was sent. */
  retryDelay: optionalText,
  /** Shortens the account's longest attempt. */
  timeoutSeconds: optional(whole),
  /** Delay before the first attempt; 0: none. */
  delaySeconds: whole,
  callback: optional(callback),
  failureCallback: optional(callback),
  flowControl: optional(flowControl),
  labels: texts,
  redact: optional(redaction),
  /** Left out: normal. */
  priority: trailing(oneOf(...PRIORITIES)),
  /** While the destination is stopped: the message waits, or goes to the DLQ. Left out: by the rules of breakers. */
  whenStopped: trailing(oneOf(...MESSAGES_WHEN_STOPPED)),
});
export type DeliverySettings = TypeOf<typeof settings>;

/** Marks a message of a run. It is part of the envelope, so all runs of one kind share it. */
export const workflowMark = record({
  /**
   * The run fails immediately when the answer lacks the protocol's version, because then no workflow endpoint sent
   * it.
   */
  detectsTrigger: flag,
  /** A REST trigger started the run: the run fails immediately when the endpoint's client is too old for that. */
  needsRecentClient: flag,
  /** The endpoint can fetch the list of entries itself when a delivery leaves it out. */
  canFetch: flag,
  /** The trigger's settings hold for all messages of the run; else each message brings its own. */
  isConfiguredByTrigger: flag,
});
export type WorkflowMark = TypeOf<typeof workflowMark>;

/** The `webhook-id`, and the type of the event. */
const webhookMark = record({ id: text(), eventType: text() });

/**
 * The settings and origin that similar messages share. The state keeps one object for equal envelopes; envelopes are
 * compared by their bytes and never changed.
 */
export const envelope = sharedBytes(
  record({
    /** The URL that is called, and the `sub` of the signature. */
    url: text(),
    settings,
    queueName: optionalText,
    scheduleId: optional(scheduleId),
    /** URL group, and the endpoint's name in it. */
    topicName: optionalText,
    endpointName: optionalText,
    /** The publisher's address. */
    callerIp: text(),
    /** The request used the alias spelling; records are shown in it to readers without a spelling of their choice. */
    isAlias: flag,
    /** For a callback: the message it reports on. */
    callbackOf: optional(messageId),
    /** Set for a message of a workflow run. */
    workflow: trailing(workflowMark),
    /** Set for a webhook: `topicName` is the id of the application, `endpointName` that of its endpoint. */
    webhook: trailing(webhookMark),
  }),
);
export type Envelope = TypeOf<typeof envelope>;

/**
 * A body by its number within the account: 1, 2, 3 … in order of acceptance, 0 for an empty body. The state knows
 * only number and length; the actor knows where the bytes are (memory, journal, body segments).
 */
export const bodyRefFields = { number: whole, bytes: whole };
export const bodyRef = record(bodyRefFields);
export type BodyRef = TypeOf<typeof bodyRef>;

/** A body stored in its event, or a reference to an earlier one (`content` undefined). */
export const carriedBodyFields = { ...bodyRefFields, content };
export const carriedBody = record(carriedBodyFields);
export type CarriedBody = TypeOf<typeof carriedBody>;

/**
 * `waiting`: not yet due, or due without a free place (of its queue, flow-control key, origin or account). `active`:
 * an attempt is journaled and not concluded. `delivered`: readable for `DELIVERED_GRACE_MS`, then forgotten.
 */
export const messageStatus = oneOf('waiting', 'active', 'delivered');
export type MessageStatus = TypeOf<typeof messageStatus>;

/** The last response to a message in the DLQ. */
/** The beginning of the answer to a successful attempt. */
export const keptAnswer = record({
  header: headerList,
  body: bytes,
  /** The answer was longer. */
  isCut: flag,
});
export type KeptAnswer = TypeOf<typeof keptAnswer>;

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
  /** Configuration headers, lower-case neutral names: defaults of each publish to the group. */
  defaults: headerList,
  createdAtMs: whole,
  updatedAtMs: whole,
});
export type UrlGroup = TypeOf<typeof urlGroup>;

/** The settings of a queue. */
export const queueFields = { name: text(), parallelism: whole, isPaused: flag, createdAtMs: whole, updatedAtMs: whole };
/** When breakers open, and the fate of messages while they are open. */
export const breakerRules = record({
  /** Consecutive failures, and the seconds over which they must stretch. */
  failures: whole,
  seconds: whole,
  /** The wait before the first probe. */
  probeSeconds: whole,
  /** A destination is disabled when a probe fails after this time without a success. */
  disableAfterSeconds: whole,
  /** Of a stopped destination: its messages wait, or go to the DLQ. */
  messages: oneOf(...MESSAGES_WHEN_STOPPED),
  /** Gets a message when a destination is stopped, disabled or working again. */
  notifyUrl: trailing(text()),
});
export type BreakerRules = TypeOf<typeof breakerRules>;

/** Stored by index: add new ones at the end. */
export const BREAKER_STATES = ['closed', 'open', 'disabled'] as const;
export const breakerFields = {
  /** Without query and fragment. */
  url: text(),
  state: oneOf(...BREAKER_STATES),
  /** Of the state: consecutive failures, an answer 410, or a command. */
  reason: oneOf('failures', 'gone', 'request'),
  /** Consecutive failures, and the time of the first one. */
  failures: whole,
  failingSinceMs: whole,
  changedAtMs: whole,
  /** Of an open one; else 0. */
  nextProbeAtMs: whole,
  /** Probes that have failed. */
  probes: whole,
  /** The message of the latest probe, until its outcome. */
  probe: optional(messageId),
  /** Of the last failure. 0: there was no HTTP response. */
  status: whole,
  error: text(),
};
export const breaker = record(breakerFields);
export type Breaker = TypeOf<typeof breaker>;

const scheduleDestination = union('kind', {
  url: kind(1, { url: text() }),
  group: kind(2, { name: text() }),
});
export type ScheduleDestination = TypeOf<typeof scheduleDestination>;

/** The outcome of the messages of the latest tick. */
const outcome = oneOf('IN_PROGRESS', 'SUCCESS', 'FAIL');
export type ScheduleOutcome = TypeOf<typeof outcome>;

/** A schedule without its body and the outcomes of its ticks. */
export const scheduleFields = {
  id: scheduleId,
  /** The expression as it was sent, trimmed, with its `CRON_TZ=` prefix. */
  cron: text(),
  destination: scheduleDestination,
  settings,
  /**
   * For a schedule with a group as destination: its configuration headers as sent, to be merged over the group's
   * defaults.
   */
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
  /** 0: no tick yet. */
  lastTickAtMs: whole,
  lastOutcomes: mapOf(messageId, outcome),
});
export type Schedule = TypeOf<typeof schedule>;

/** Limits of one account, by the names of its record. 0 means no limit only where a field says so. */
export const accountLimitFields = {
  /** Bytes of a body. A callback may carry as many of each of the two bodies it reports. */
  maxMessageBytes: integer,
  /** Messages per UTC day: above the first the account is warned, above the second refused. 0: no limit. */
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
  /** Parallelism of one queue. */
  maxParallelism: integer,
  /** Open attempts of the whole account. */
  maxGlobalParallelism: integer,
  maxQueues: integer,
  /** Longest attempt. */
  timeoutSeconds: integer,
  /** Cents per UTC month; 0: no limit. */
  budgetCents: integer,
};
export const accountLimits = openRecord(accountLimitFields);
export type AccountLimits = TypeOf<typeof accountLimits>;

/** `passive`: suspended by an operator. No message is accepted or delivered, and none is lost. */
export const accountState = wordOf('active', 'passive');
export type AccountState = TypeOf<typeof accountState>;

export interface AccountTerms {
  readonly state: AccountState;
  readonly limits: AccountLimits;
  /** Cents for 100,000 messages, by the operator's price list. */
  readonly centsPer100kMessages: number;
}
