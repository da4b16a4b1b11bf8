/**
 * The table of events of a queue account, workflow runs included: one row each, with its change to the account.
 * Numbers and shapes of stored events are in `events.ts` and `workflow-events.ts` of `model` and never change.
 */
import type { QueueEvent, QueueEventOf } from '../events.js';
import type { AccountParts } from './account-parts.js';
import { attemptFailed, attemptStarted } from './attempt-events.js';
import { dlqRestored, leaveDlq, messageDeadLettered } from './dlq-events.js';
import {
  cancelRequested,
  messageAccepted,
  messageCancelled,
  messageDelivered,
  messageRestored,
} from './message-events.js';
import { queueDeleted, queueSet } from './queue-events.js';

export interface EventRow<Event extends QueueEvent = QueueEvent> {
  /**
   * Applies the event. It accepts every event that was ever journaled, judges none, and asserts when one cannot fit.
   */
  evolve(event: Event, parts: AccountParts): void;
}

type EventTable = { readonly [Type in QueueEvent['type']]: EventRow<QueueEventOf<Type>> };

/** The event is only a record and changes no state. */
const nothing = () => {};

const QUEUE_EVENTS: EventTable = {
  MessageAccepted: { evolve: messageAccepted },
  AttemptStarted: { evolve: attemptStarted },
  MessageDelivered: { evolve: messageDelivered },
  AttemptFailed: { evolve: attemptFailed },
  MessageDeadLettered: { evolve: messageDeadLettered },
  CancelRequested: { evolve: cancelRequested },
  MessageCancelled: { evolve: messageCancelled },

  DlqDeleted: { evolve: ({ dlqIds }, parts) => leaveDlq(dlqIds, parts) },
  DlqExpired: { evolve: ({ dlqIds }, parts) => leaveDlq(dlqIds, parts) },
  DlqRetried: { evolve: ({ dlqId }, parts) => leaveDlq([dlqId], parts) },

  GroupSet: { evolve: (event, { groups }) => groups.set(event) },
  GroupDeleted: { evolve: (event, { groups }) => groups.delete(event) },

  ApplicationSet: { evolve: (event, { applications }) => applications.set(event) },
  ApplicationDeleted: { evolve: (event, { applications }) => applications.delete(event) },
  ApplicationEndpointSet: { evolve: (event, { applications }) => applications.setEndpoint(event) },
  ApplicationEndpointDeleted: { evolve: (event, { applications }) => applications.deleteEndpoint(event) },
  EventTypeSet: { evolve: (event, { applications }) => applications.setEventType(event) },
  EventTypeDeleted: { evolve: (event, { applications }) => applications.deleteEventType(event) },

  QueueSet: { evolve: queueSet },
  QueueDeleted: { evolve: queueDeleted },

  ScheduleSet: {
    evolve: (event, { schedules, bodies }) => {
      bodies.store(event.body);
      schedules.set(event);
    },
  },
  ScheduleDeleted: { evolve: (event, { schedules }) => schedules.delete(event) },
  SchedulePaused: { evolve: (event, { schedules }) => schedules.pause(event) },
  ScheduleFired: { evolve: (event, { schedules }) => schedules.fire(event) },
  ScheduleSkipped: { evolve: (event, { schedules }) => schedules.skip(event) },

  FlowPaused: { evolve: flowPaused },
  FlowPinned: { evolve: flowPinned },
  FlowUnpinned: { evolve: flowUnpinned },
  FlowReset: { evolve: flowReset },

  IntakeTaken: { evolve: intakeTaken },
  OutboxTaken: { evolve: (event, { outboxes }) => outboxes.take(event) },
  DailyLimitReached: { evolve: dailyLimitReached },

  BreakerRulesSet: { evolve: breakerRulesSet },
  BreakerChanged: { evolve: breakerChanged },

  MessageRestored: { evolve: messageRestored },
  DlqRestored: { evolve: dlqRestored },
  GroupRestored: { evolve: (event, { groups }) => groups.restore(event) },
  QueueRestored: { evolve: (event, { queues }) => queues.restore(event) },
  ScheduleRestored: { evolve: (event, { schedules }) => schedules.restore(event) },
  FlowRestored: { evolve: (event, { flows }) => flows.restore(event) },
  DeduplicationRestored: { evolve: deduplicationRestored },
  AcceptedIdsRestored: { evolve: (event, { acceptedIds }) => acceptedIds.restore(event) },
  AccountRestored: { evolve: accountRestored },

  RunStarted: { evolve: (event, { runs }) => runs.start(event) },
  RunReconfigured: { evolve: (event, { runs }) => runs.reconfigure(event) },
  RunEnded: { evolve: (event, { runs, messages }) => runs.end(event, (id) => messages.isWaiting(id)) },
  WaiterAdded: { evolve: (event, { runs }) => runs.addWaiter(event) },
  WaiterRemoved: { evolve: (event, { runs }) => runs.removeWaiter(event) },
  EventStored: { evolve: (event, { runs }) => runs.storeEvent(event) },
  StoredEventTaken: { evolve: (event, { runs }) => runs.takeEvent(event) },
  InvokeStarted: { evolve: (event, { runs }) => runs.startInvoke(event) },
  InvokeEndedLate: { evolve: nothing },
  MessageFailed: { evolve: messageCancelled },
  FailureFunctionEnded: { evolve: (event, { runs }) => runs.endFunction(event) },
  RunRestored: { evolve: (event, { runs }) => runs.restore(event) },
  RunEntriesRestored: { evolve: (event, { runs }) => runs.restoreEntries(event) },
  EndedRunsRestored: { evolve: (event, { runs }) => runs.restoreEnded(event) },
};

export function rowOfEvent(event: QueueEvent): EventRow {
  return QUEUE_EVENTS[event.type] as EventRow;
}

function flowPaused(event: QueueEventOf<'FlowPaused'>, { flows, dispatch }: AccountParts): void {
  flows.setPaused(event);
  dispatch?.flowChanged(event.key);
}

function flowPinned(event: QueueEventOf<'FlowPinned'>, { flows, dispatch }: AccountParts): void {
  flows.pin(event);
  dispatch?.flowChanged(event.key);
}

function flowUnpinned(event: QueueEventOf<'FlowUnpinned'>, { flows, dispatch }: AccountParts): void {
  flows.unpin(event);
  dispatch?.flowChanged(event.key);
}

/** With `all`, active messages lose their tokens of the key. */
function flowReset(event: QueueEventOf<'FlowReset'>, { messages, flows, dispatch }: AccountParts): void {
  if (event.all) {
    for (const message of messages.active) {
      if (message.shared.envelope.settings.flowControl?.key === event.key) message.hasToken = false;
    }
  }
  flows.reset(event);
  dispatch?.flowChanged(event.key);
}

function breakerRulesSet(event: QueueEventOf<'BreakerRulesSet'>, { breakers, dispatch }: AccountParts): void {
  breakers.setRules(event);
  dispatch?.breakerChanged(undefined);
}

function breakerChanged(event: QueueEventOf<'BreakerChanged'>, { breakers, dispatch }: AccountParts): void {
  breakers.change(event);
  dispatch?.breakerChanged(event.breaker.url);
}

function intakeTaken({ position }: QueueEventOf<'IntakeTaken'>, parts: AccountParts): void {
  parts.intakePosition = position;
}

function dailyLimitReached(_: QueueEventOf<'DailyLimitReached'>, { usage }: AccountParts): void {
  usage.isDailyLimitReached = true;
}

/** From a snapshot: the account's counters and usage. */
function accountRestored(event: QueueEventOf<'AccountRestored'>, parts: AccountParts): void {
  parts.bodies.next = event.nextBody;
  parts.nextOrder = event.nextOrder;
  parts.deadLetters.next = event.nextDlq;
  parts.intakePosition = event.intakePosition;
  parts.nowMs = event.nowMs;
  parts.usage.day = event.day;
  parts.usage.messagesToday = event.messagesToday;
  parts.usage.month = event.month;
  parts.usage.messagesThisMonth = event.messagesThisMonth;
  parts.usage.isDailyLimitReached = event.isDailyLimitReached;
}

function deduplicationRestored(
  { entries }: QueueEventOf<'DeduplicationRestored'>,
  { deduplication }: AccountParts,
): void {
  for (const [key, id, atMs] of entries) deduplication.reserve(key, id, atMs);
}
