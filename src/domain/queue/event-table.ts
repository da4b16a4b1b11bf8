/**
 * The events of an account's queue, those of runs among them: one row each, with what it does to the
 * account. Number and shape in stored bytes are in `events.ts` and `runs/events.ts`, for ever.
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
  /** Total over what was ever journaled: it judges nothing, and asserts where the event cannot fit. */
  evolve(event: Event, parts: AccountParts): void;
}

type EventTable = { readonly [Type in QueueEvent['type']]: EventRow<QueueEventOf<Type>> };

/** It says what has happened, and changes nothing. */
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
  DailyLimitReached: { evolve: dailyLimitReached },

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
