/**
 * What can be asked about runs, and what is answered. All of it is asked of the account's owner and waits for its
 * answer: a run that is over, a limit, a repetition are known there alone.
 */
import {
  absent,
  bytes,
  flag,
  kind,
  listOf,
  number,
  oneOf,
  optional,
  record,
  type TypeOf,
  text,
  tuple,
  type UnionOf,
  union,
  whole,
} from '../../../kernel/schema/index.js';
import { dlqSelectorBy } from '../dead-letters/dlq-selector.js';
import {
  bodyRef,
  content,
  dlqEntry,
  dlqId,
  envelope,
  headerList,
  messageId,
  optionalText,
  rawSettings,
  settings,
  texts,
  workflowMark,
} from '../records.js';
import { failureFunction, failureFunctionState, type RunEntry, runId, stepMark } from './records.js';

/** How a record made by the server is to be delivered; the owner puts the run's own settings under it. */
const delivery = record({
  url: text(),
  settings,
  mark: workflowMark,
  /** They are as they came: lower-case neutral names. */
  headers: headerList,
});
export type AskedDelivery = TypeOf<typeof delivery>;

const invoker = record({ runId, step: stepMark, stepText: text(), delivery });
export type AskedInvoker = TypeOf<typeof invoker>;

/** What a published message is to a run; beside its destination, settings and body. */
export const workflowItem = union('kind', {
  trigger: kind(1, {
    runId,
    mark: workflowMark,
    /** The endpoint repeats the trigger that reached it: settings are taken over, entry 0 is delivered again. */
    isByEndpoint: flag,
    /** Set for a child run, with its depth: 1 for the first child. */
    invoker: optional(invoker),
    depth: whole,
  }),
  entry: kind(2, { runId, mark: workflowMark, step: stepMark }),
  /** The outcome goes to the settings' callback. */
  call: kind(3, { runId, mark: workflowMark, step: stepMark }),
});
export type WorkflowItem = TypeOf<typeof workflowItem>;

/** Different filters are and-ed, values within one are or-ed. Empty: all. */
const runFilter = record({
  url: absent(texts),
  /** It is said of the URL; else a prefix of it is enough. */
  isUrlExact: absent(flag),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  /** It is the instant of creation, inclusive. */
  fromMs: absent(number),
  toMs: absent(number),
});
export type RunFilter = TypeOf<typeof runFilter>;

const runSelector = union('kind', {
  ids: kind(1, { runIds: listOf(runId) }),
  filter: kind(2, { filter: runFilter, count: whole }),
});
export type RunSelector = TypeOf<typeof runSelector>;

const failedRunFilter = record({
  workflowUrl: absent(texts),
  runId: absent(texts),
  createdAtMs: absent(listOf(number)),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  failureFunctionState: absent(listOf(failureFunctionState)),
  /** Destination of the delivery that failed, and the status of its last answer. */
  url: absent(texts),
  responseStatus: absent(listOf(number)),
  /** It is the instant of the failure, inclusive. */
  fromMs: absent(number),
  toMs: absent(number),
});
export type FailedRunFilter = TypeOf<typeof failedRunFilter>;

const failedRunSelector = dlqSelectorBy(failedRunFilter);
export type FailedRunSelector = TypeOf<typeof failedRunSelector>;

/** In the order of deadlines. */
const waiterPlace = record({ deadlineMs: whole, runId, stepId: whole });
export type WaiterPlace = TypeOf<typeof waiterPlace>;

export const workflowCommands = {
  /** A step waits; asked again it changes nothing. */
  Wait: kind(34, {
    runId,
    eventId: text(),
    resultId: messageId,
    step: stepMark,
    stepText: text(),
    timeoutText: text(),
    timeoutSeconds: number,
    timeoutBody: optionalText,
    onNotify: delivery,
    onTimeout: delivery,
  }),
  /**
   * All waiters of the event; with a run: the run's alone, and if there is none the event is kept for it.
   * `hook`: a third party asks, who has to hear when there is no such run.
   */
  Notify: kind(35, {
    eventId: text(),
    runId: optional(runId),
    /** It is the id of the first waiter's result; the others' follow from it. */
    firstId: messageId,
    content: bytes,
    isHook: flag,
  }),
  ListWaiters: kind(36, { eventId: text() }),
  /** Entries from `from` on, as many as fit into `maxBytes`; at least one. */
  /** Of all events, the earliest deadline first; a page begins behind `after`. */
  ListAllWaiters: kind(47, { count: whole, after: optional(waiterPlace) }),
  GetRun: kind(37, { runId, from: whole, maxBytes: whole }),
  /** `finish`: one that is over, or unknown, is as good as finished. */
  EndRun: kind(38, { runId, how: oneOf('finish', 'cancel'), response: optional(bytes) }),
  /** Runs in slices; not atomic. */
  CancelRuns: kind(39, { selector: runSelector }),
  GetFailedRun: kind(40, { dlqId }),
  /** Ends a page early rather than have more than `maxBytes` of bodies in it. */
  ListFailedRuns: kind(41, { selector: failedRunSelector, maxBytes: whole }),
  DeleteFailedRuns: kind(42, { selector: failedRunSelector }),
  CountFailedRuns: kind(48, { filter: failedRunFilter }),
  /** Ids of the runs and of their first messages follow from `firstRunId` and `firstId`. */
  ResumeRuns: kind(43, {
    how: oneOf('resume', 'restart'),
    selector: failedRunSelector,
    firstRunId: runId,
    firstId: messageId,
    overrides: rawSettings,
  }),
  RunFailureFunction: kind(44, { dlqId, messageId }),
  CancelFailureFunction: kind(45, { dlqId }),
};
export type WorkflowCommand = UnionOf<'type', typeof workflowCommands>;

export const runName = record({ runId, createdAtMs: whole });
export type RunName = TypeOf<typeof runName>;

const waiterView = record({
  runId,
  runCreatedAtMs: whole,
  url: text(),
  headers: headerList,
  deadlineMs: whole,
  timeoutUrl: text(),
  timeoutBody: optionalText,
  timeoutHeaders: headerList,
  isAlias: flag,
});
export type WaiterView = TypeOf<typeof waiterView>;

const listedWaiter = record({
  eventId: text(),
  runId,
  runCreatedAtMs: whole,
  stepId: whole,
  stepName: text(),
  addedAtMs: whole,
  deadlineMs: whole,
});
export type ListedWaiter = TypeOf<typeof listedWaiter>;

const notified = record({ waiter: waiterView, messageId });
export type Notified = TypeOf<typeof notified>;

const entryView = record({ messageId, body: bodyRef, content });
export type EntryView = TypeOf<typeof entryView>;

/** An entry of the workflows' DLQ; contents as they are fetched. */
const failedRunView = record({
  entry: dlqEntry,
  runId,
  runCreatedAtMs: whole,
  /** The trigger's. */
  envelope,
  payload: bodyRef,
  payloadContent: content,
  responseContent: content,
  failureFunction: optional(failureFunction),
  failureFunctionContent: content,
});
export type FailedRunView = TypeOf<typeof failedRunView>;

export const workflowReplies = {
  Notified: kind(16, { notified: listOf(notified) }),
  Waiters: kind(17, { waiters: listOf(waiterView) }),
  /** `total`: on all pages. `after`: undefined at the end. */
  AllWaiters: kind(23, { waiters: listOf(listedWaiter), total: whole, after: optional(waiterPlace) }),
  Run: kind(18, {
    run: runName,
    entries: listOf(entryView),
    /** Where to go on; undefined at the end. */
    nextFrom: optional(whole),
  }),
  FailedRuns: kind(19, { runs: listOf(failedRunView), after: optional(dlqId) }),
  /** How many, by the status of their last answer; 0: there was none. */
  FailedRunCounts: kind(24, { counts: listOf(tuple<[status: number, count: number]>(whole, whole)) }),
  RunsStarted: kind(20, { runs: listOf(runName), after: optional(dlqId) }),
};
export type WorkflowReply = UnionOf<'type', typeof workflowReplies>;

export type { RunEntry };
