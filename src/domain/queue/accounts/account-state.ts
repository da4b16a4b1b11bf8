/**
 * An account's queue as one value: what its journal adds up to. `apply` is the only way to change it.
 *
 *  S1 `apply` is total over events that were ever journaled, judges nothing, and asserts where one cannot fit
 *  S2 two states that applied the same events are equal, and so is one that was rebuilt from a snapshot between
 *  S3 what grows old is forgotten by the times of events alone, some of it with each, so that no event takes long
 */
import { unreachable } from '../../../kernel/index.js';
import { dlqRestored, leaveDlq, messageDeadLettered } from '../dead-letters/dlq-events.js';
import { attemptFailed, attemptStarted, flowReset, queueChanged } from '../delivery/attempt-events.js';
import type { QueueEvent, QueueEventOf } from '../events.js';
import {
  cancelRequested,
  letGo,
  messageAccepted,
  messageCancelled,
  messageDelivered,
  messageRestored,
} from '../messages/message-events.js';
import { AccountParts } from './account-parts.js';
import type { Held } from './held.js';
import { heldOf } from './held-account.js';

export class AccountState extends AccountParts {
  get size(): number {
    const { messages, groups, queues, schedules, flows, runs, deadLetters } = this;
    return messages.size + deadLetters.size + groups.size + queues.size + schedules.size + flows.size + runs.size;
  }

  heldAt(nowMs: number): Held {
    return heldOf(this, nowMs);
  }

  apply(event: QueueEvent): void {
    if ('atMs' in event) this.#passTime(event.atMs);
    switch (event.type) {
      case 'MessageAccepted':
        messageAccepted(event, this);
        return;
      case 'AttemptStarted':
        attemptStarted(event, this);
        return;
      case 'MessageDelivered':
        messageDelivered(event, this);
        return;
      case 'AttemptFailed':
        attemptFailed(event, this);
        return;
      case 'MessageDeadLettered':
        messageDeadLettered(event, this);
        return;
      case 'CancelRequested':
        cancelRequested(event, this);
        return;
      case 'MessageCancelled':
      case 'MessageFailed':
        messageCancelled(event, this);
        return;
      case 'DlqDeleted':
      case 'DlqExpired':
        leaveDlq(event.dlqIds, this);
        return;
      case 'DlqRetried':
        leaveDlq([event.dlqId], this);
        return;
      case 'RunStarted':
      case 'RunReconfigured':
      case 'RunEnded':
      case 'WaiterAdded':
      case 'WaiterRemoved':
      case 'EventStored':
      case 'StoredEventTaken':
      case 'InvokeStarted':
      case 'InvokeEndedLate':
      case 'FailureFunctionEnded':
      case 'RunRestored':
      case 'RunEntriesRestored':
      case 'EndedRunsRestored':
        this.runs.evolve(event);
        return;
      case 'GroupSet':
      case 'GroupDeleted':
      case 'GroupRestored':
        this.groups.evolve(event);
        return;
      case 'QueueSet':
        queueChanged(this.queues.set(event), this);
        return;
      case 'QueueDeleted':
        queueChanged(this.queues.delete(event.name), this);
        return;
      case 'QueueRestored':
        this.queues.restore(event);
        return;
      case 'ScheduleSet':
        this.bodies.store(event.body);
        this.schedules.evolve(event);
        return;
      case 'ScheduleDeleted':
      case 'SchedulePaused':
      case 'ScheduleFired':
      case 'ScheduleSkipped':
      case 'ScheduleRestored':
        this.schedules.evolve(event);
        return;
      case 'FlowPaused':
        this.flows.setPaused(event);
        this.dispatch?.flowChanged(event.key);
        return;
      case 'FlowPinned':
        this.flows.pin(event);
        this.dispatch?.flowChanged(event.key);
        return;
      case 'FlowUnpinned':
        this.flows.unpin(event);
        this.dispatch?.flowChanged(event.key);
        return;
      case 'FlowReset':
        flowReset(event, this);
        return;
      case 'FlowRestored':
        this.flows.restore(event);
        return;
      case 'IntakeTaken':
        this.intakePosition = event.position;
        return;
      case 'DailyLimitReached':
        this.usage.isDailyLimitReached = true;
        return;
      case 'MessageRestored':
        messageRestored(event, this);
        return;
      case 'DlqRestored':
        dlqRestored(event, this);
        return;
      case 'DeduplicationRestored':
        for (const [deduplication, id, atMs] of event.entries) this.deduplication.reserve(deduplication, id, atMs);
        return;
      case 'AcceptedIdsRestored':
        this.acceptedIds.restore(event);
        return;
      case 'AccountRestored':
        this.#restoreAccount(event);
        return;
      default:
        unreachable(event);
        return;
    }
  }

  #passTime(atMs: number): void {
    if (atMs > this.nowMs) this.nowMs = atMs;
    this.usage.turnTo(atMs);
    this.deduplication.forget(atMs);
    this.flows.forget(atMs);
    this.runs.forget(atMs);
    for (const message of this.messages.forget(atMs)) letGo(message, this);
  }

  #restoreAccount(event: QueueEventOf<'AccountRestored'>): void {
    this.bodies.next = event.nextBody;
    this.nextOrder = event.nextOrder;
    this.deadLetters.next = event.nextDlq;
    this.intakePosition = event.intakePosition;
    this.nowMs = event.nowMs;
    this.usage.day = event.day;
    this.usage.messagesToday = event.messagesToday;
    this.usage.month = event.month;
    this.usage.messagesThisMonth = event.messagesThisMonth;
    this.usage.isDailyLimitReached = event.isDailyLimitReached;
  }
}
