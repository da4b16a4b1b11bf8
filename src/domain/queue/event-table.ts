/**
 * The events of an account's queue, those of runs among them: one row each, with the number that it has in stored bytes
 * and what it does to the account. Its shape is in `codec/queue`; both are for ever.
 */
import { accountRestored, dailyLimitReached, deduplicationRestored, intakeTaken } from './accounts/account-events.js';
import type { AccountParts } from './accounts/account-parts.js';
import { dlqRestored, leaveDlq, messageDeadLettered } from './dead-letters/dlq-events.js';
import { attemptFailed, attemptStarted } from './delivery/attempt-events.js';
import type { QueueEvent, QueueEventOf } from './events.js';
import { flowPaused, flowPinned, flowReset, flowUnpinned } from './flow-control/flow-events.js';
import {
  cancelRequested,
  messageAccepted,
  messageCancelled,
  messageDelivered,
  messageRestored,
} from './messages/message-events.js';
import { queueDeleted, queueSet } from './queues/queue-events.js';

export interface EventRow<Event extends QueueEvent = QueueEvent> {
  /** Of the event in stored bytes: never given twice. */
  readonly number: number;
  /** Total over what was ever journaled: it judges nothing, and asserts where the event cannot fit. */
  evolve(event: Event, parts: AccountParts): void;
}

type EventTable = { readonly [Type in QueueEvent['type']]: EventRow<QueueEventOf<Type>> };

/** It says what has happened, and changes nothing. */
const nothing = () => {};

export const QUEUE_EVENTS: EventTable = {
  MessageAccepted: { number: 1, evolve: messageAccepted },
  AttemptStarted: { number: 2, evolve: attemptStarted },
  MessageDelivered: { number: 3, evolve: messageDelivered },
  AttemptFailed: { number: 4, evolve: attemptFailed },
  MessageDeadLettered: { number: 5, evolve: messageDeadLettered },
  CancelRequested: { number: 6, evolve: cancelRequested },
  MessageCancelled: { number: 7, evolve: messageCancelled },

  DlqDeleted: { number: 8, evolve: ({ dlqIds }, parts) => leaveDlq(dlqIds, parts) },
  DlqExpired: { number: 9, evolve: ({ dlqIds }, parts) => leaveDlq(dlqIds, parts) },
  DlqRetried: { number: 10, evolve: ({ dlqId }, parts) => leaveDlq([dlqId], parts) },

  GroupSet: { number: 11, evolve: (event, { groups }) => groups.set(event) },
  GroupDeleted: { number: 12, evolve: (event, { groups }) => groups.delete(event) },

  QueueSet: { number: 13, evolve: queueSet },
  QueueDeleted: { number: 14, evolve: queueDeleted },

  ScheduleSet: {
    number: 15,
    evolve: (event, { schedules, bodies }) => {
      bodies.store(event.body);
      schedules.set(event);
    },
  },
  ScheduleDeleted: { number: 16, evolve: (event, { schedules }) => schedules.delete(event) },
  SchedulePaused: { number: 17, evolve: (event, { schedules }) => schedules.pause(event) },
  ScheduleFired: { number: 18, evolve: (event, { schedules }) => schedules.fire(event) },
  ScheduleSkipped: { number: 19, evolve: (event, { schedules }) => schedules.skip(event) },

  FlowPaused: { number: 20, evolve: flowPaused },
  FlowPinned: { number: 21, evolve: flowPinned },
  FlowUnpinned: { number: 22, evolve: flowUnpinned },
  FlowReset: { number: 23, evolve: flowReset },

  IntakeTaken: { number: 24, evolve: intakeTaken },
  DailyLimitReached: { number: 25, evolve: dailyLimitReached },

  MessageRestored: { number: 26, evolve: messageRestored },
  DlqRestored: { number: 27, evolve: dlqRestored },
  GroupRestored: { number: 28, evolve: (event, { groups }) => groups.restore(event) },
  QueueRestored: { number: 29, evolve: (event, { queues }) => queues.restore(event) },
  ScheduleRestored: { number: 30, evolve: (event, { schedules }) => schedules.restore(event) },
  FlowRestored: { number: 31, evolve: (event, { flows }) => flows.restore(event) },
  DeduplicationRestored: { number: 32, evolve: deduplicationRestored },
  AcceptedIdsRestored: { number: 33, evolve: (event, { acceptedIds }) => acceptedIds.restore(event) },
  AccountRestored: { number: 34, evolve: accountRestored },

  RunStarted: { number: 35, evolve: (event, { runs }) => runs.start(event) },
  RunReconfigured: { number: 36, evolve: (event, { runs }) => runs.reconfigure(event) },
  RunEnded: { number: 37, evolve: (event, { runs }) => runs.end(event) },
  WaiterAdded: { number: 38, evolve: (event, { runs }) => runs.addWaiter(event) },
  WaiterRemoved: { number: 39, evolve: (event, { runs }) => runs.removeWaiter(event) },
  EventStored: { number: 40, evolve: (event, { runs }) => runs.storeEvent(event) },
  StoredEventTaken: { number: 41, evolve: (event, { runs }) => runs.takeEvent(event) },
  InvokeStarted: { number: 42, evolve: (event, { runs }) => runs.startInvoke(event) },
  InvokeEndedLate: { number: 43, evolve: nothing },
  MessageFailed: { number: 44, evolve: messageCancelled },
  FailureFunctionEnded: { number: 45, evolve: (event, { runs }) => runs.endFunction(event) },
  RunRestored: { number: 46, evolve: (event, { runs }) => runs.restore(event) },
  RunEntriesRestored: { number: 47, evolve: (event, { runs }) => runs.restoreEntries(event) },
  EndedRunsRestored: { number: 48, evolve: (event, { runs }) => runs.restoreEnded(event) },
};

export function rowOfEvent(event: QueueEvent): EventRow {
  return QUEUE_EVENTS[event.type] as EventRow;
}
