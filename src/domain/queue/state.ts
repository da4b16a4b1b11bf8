/**
 * An account's queue as one value: what its journal adds up to. `apply` is the only way to change it.
 *
 *  S1 `apply` is total over events that were ever journaled, judges nothing, and asserts where one cannot fit
 *  S2 two states that applied the same events are equal, and so is one that was rebuilt from a snapshot between
 *  S3 what grows old is forgotten by the times of events alone, some of it with each, so that no event takes long
 */
import { type DlqId, type MessageId, unreachable } from '../../kernel/index.js';
import { Runs } from '../workflow/runs.js';
import { AcceptedIds } from './accepted-ids.js';
import { BodyReferences } from './body-references.js';
import { DeduplicationWindow } from './deduplication-window.js';
import { DlqEntries, numberOf } from './dlq.js';
import type { BodySink } from './engine.js';
import { Envelopes } from './envelopes.js';
import type { CarriedBody, QueueEvent, QueueEventOf } from './events.js';
import { FlowKeys } from './flow-control.js';
import { Groups } from './groups.js';
import {
  ACCEPTED_ID_MEMORY_BYTES,
  DEDUPLICATION_MEMORY_BYTES,
  DLQ_MEMORY_BYTES,
  type Held,
  HeldBodies,
  MESSAGE_MEMORY_BYTES,
} from './held.js';
import { ACTIVE, DELIVERED, Message, Messages, WAITING } from './messages.js';
import { type OrderedQueue, OrderedQueues } from './queues.js';
import type { BodyRef, DlqEntry, Envelope } from './records.js';
import { Schedules } from './schedules.js';
import { Usage } from './usage.js';

/** What whoever plans attempts has to hear. Each is called when the state has changed, but for `leaves`. */
export interface DispatchHooks {
  waits(message: Message): void;
  /** It is about to be no longer waiting. */
  leaves(message: Message): void;
  attemptStarted(message: Message): void;
  /** @param hasAnswered whether its destination has; undefined: nothing is known of that */
  attemptEnded(message: Message, hasAnswered: boolean | undefined): void;
  flowChanged(key: string): void;
  queueChanged(queue: OrderedQueue): void;
}

export class AccountState {
  readonly envelopes = new Envelopes();
  readonly messages = new Messages();
  readonly acceptedIds = new AcceptedIds();
  readonly deduplication = new DeduplicationWindow();
  readonly flows = new FlowKeys();
  readonly queues = new OrderedQueues();
  readonly dlq = new DlqEntries();
  readonly groups = new Groups();
  readonly usage = new Usage();
  readonly references = new BodyReferences();
  readonly #heldBodies = new HeldBodies();
  #runMemoryBytes = 0;
  readonly schedules = new Schedules(this.groups, {
    hold: (body) => this.#holdBody(body),
    release: (body) => this.#dropBody(body),
  });
  readonly runs = new Runs({
    holdBody: (body) => this.#holdBody(body),
    takeBody: (body) => this.#takeBody(body),
    dropBody: (body) => this.#dropBody(body),
    holdEnvelope: (envelope) => this.envelopes.hold(envelope),
    dropEnvelope: (shared) => this.envelopes.release(shared),
    dropEnvelopeOf: (envelope) => this.envelopes.releaseOf(envelope),
    weigh: (bytes) => {
      this.#runMemoryBytes += bytes;
    },
  });
  /** The time of the latest event. */
  nowMs = 0;
  nextBody = 1;
  nextOrder = 1;
  nextDlq = 1;
  intakePosition = 0;
  /** Nobody, while a journal is replayed. */
  dispatch: DispatchHooks | undefined;

  constructor(readonly bodies: BodySink) {}

  get size(): number {
    const { messages, groups, queues, schedules, flows, runs } = this;
    return messages.size + this.dlqSize + groups.size + queues.size + schedules.size + flows.size + runs.size;
  }

  /** HE1–HE3. @param nowMs what is too old to count is not always forgotten */
  heldAt(nowMs: number): Held {
    const { messages, envelopes, schedules, groups, runs } = this;
    const answerBytes = this.dlq.answerBytes + runs.dlq.answerBytes;
    return {
      messages: messages.pendingCount + this.dlqSize + runs.waiterCount,
      bytes:
        this.#heldBodies.bytes + envelopes.bytes + answerBytes + schedules.bytes + groups.bytes + this.#runMemoryBytes,
      memoryBytes:
        messages.pendingCount * MESSAGE_MEMORY_BYTES +
        this.dlqSize * (MESSAGE_MEMORY_BYTES + DLQ_MEMORY_BYTES) +
        this.dlq.answerMemoryBytes +
        runs.dlq.answerMemoryBytes +
        schedules.memoryBytes +
        groups.memoryBytes +
        envelopes.memoryBytes +
        this.deduplication.sizeAt(nowMs) * DEDUPLICATION_MEMORY_BYTES +
        this.acceptedIds.sizeAt(nowMs) * ACCEPTED_ID_MEMORY_BYTES +
        this.#runMemoryBytes,
    };
  }

  /** Plain entries and failed runs. */
  get dlqSize(): number {
    return this.dlq.size + this.runs.dlq.size;
  }

  get oldestDlq(): DlqEntry | undefined {
    const { oldest } = this.dlq;
    const oldestRun = this.runs.dlq.oldest;
    if (oldest === undefined || oldestRun === undefined) return oldest ?? oldestRun;
    return numberOf(oldest.dlqId) < numberOf(oldestRun.dlqId) ? oldest : oldestRun;
  }

  /** Plain ones and failed runs, the oldest first; tolerates deletions on the way. */
  *dlqEntries(): Iterable<DlqEntry> {
    const plain = this.dlq.ascending()[Symbol.iterator]();
    const ofRuns = this.runs.dlq.ascending()[Symbol.iterator]();
    let one = plain.next();
    let other = ofRuns.next();
    while (one.done !== true || other.done !== true) {
      const isPlain =
        one.done !== true && (other.done === true || numberOf(one.value.dlqId) < numberOf(other.value.dlqId));
      if (isPlain) {
        yield one.value;
        one = plain.next();
      } else if (other.done !== true) {
        yield other.value;
        other = ofRuns.next();
      }
    }
  }

  apply(event: QueueEvent): void {
    if ('atMs' in event) this.#passTime(event.atMs);
    switch (event.type) {
      case 'MessageAccepted':
        this.#accept(event);
        return;
      case 'AttemptStarted':
        this.#startAttempt(event);
        return;
      case 'MessageDelivered':
        this.#deliver(event);
        return;
      case 'AttemptFailed':
        this.#failAttempt(event);
        return;
      case 'MessageDeadLettered':
        this.#deadLetter(event);
        return;
      case 'CancelRequested':
        this.#requestCancel(event.id);
        return;
      case 'MessageCancelled':
        this.#cancel(event);
        return;
      case 'DlqDeleted':
      case 'DlqExpired':
        for (const dlqId of event.dlqIds) this.#leaveDlq(dlqId);
        return;
      case 'DlqRetried':
        this.#leaveDlq(event.dlqId);
        return;
      case 'MessageFailed':
        this.#cancel(event);
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
        this.#queueChanged(this.queues.set(event));
        return;
      case 'QueueDeleted':
        this.#queueChanged(this.queues.delete(event.name));
        return;
      case 'QueueRestored':
        this.queues.restore(event);
        return;
      case 'ScheduleSet':
        this.#storeBody(event.body);
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
        this.#resetFlow(event);
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
        this.#restoreMessage(event);
        return;
      case 'DlqRestored':
        this.#restoreEntry(event.entry);
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

  queueOf({ queueName }: Envelope): OrderedQueue | undefined {
    return queueName === undefined ? undefined : this.queues.get(queueName);
  }

  #passTime(atMs: number): void {
    if (atMs > this.nowMs) this.nowMs = atMs;
    this.usage.turnTo(atMs);
    this.deduplication.forget(atMs);
    this.flows.forget(atMs);
    this.runs.forget(atMs);
    for (const message of this.messages.forget(atMs)) this.#letGo(message);
  }

  // ── messages ──

  #accept(event: QueueEventOf<'MessageAccepted'>): void {
    const { id, atMs, body } = event;
    const shared = this.envelopes.hold(event.envelope);
    const { flowControl } = shared.envelope.settings;
    const order = this.nextOrder;
    const { notBeforeMs, holdsPlaceOf } = event;
    const message = new Message(
      id,
      shared,
      body.number,
      body.bytes,
      atMs,
      notBeforeMs,
      notBeforeMs,
      order,
      holdsPlaceOf,
    );
    this.nextOrder += 1;
    this.messages.add(message);
    this.#takeBody(body);
    if (event.workflow !== undefined) this.runs.accepted(message, event.workflow, atMs);
    this.acceptedIds.add(id, atMs);
    this.usage.count(atMs);
    if (event.deduplication !== undefined) this.deduplication.reserve(event.deduplication, id, atMs);
    if (holdsPlaceOf !== undefined) this.queues.addCallback(holdsPlaceOf);
    const queue = this.queueOf(shared.envelope);
    if (queue !== undefined) {
      queue.lag += 1;
      queue.waiting += 1;
    }
    if (flowControl !== undefined) {
      this.flows.join(flowControl, atMs);
      this.dispatch?.flowChanged(flowControl.key);
    }
    this.dispatch?.waits(message);
  }

  #startAttempt({ id, atMs, retried, restarts }: QueueEventOf<'AttemptStarted'>): void {
    const message = this.messages.pending(id);
    const { envelope } = message.shared;
    this.dispatch?.leaves(message);
    const { flowControl } = envelope.settings;
    const flow = flowControl === undefined ? undefined : this.flows.get(flowControl.key);
    if (message.status === WAITING) {
      message.status = ACTIVE;
      this.messages.active.add(message);
      if (flow !== undefined) {
        flow.active += 1;
        message.hasToken = true;
      }
      const queue = this.queueOf(envelope);
      if (queue !== undefined) {
        queue.waiting -= 1;
        if (this.queues.placeOf(id) === undefined) this.queues.take(queue, id);
      }
      if (retried > 0) this.usage.count(atMs);
    }
    message.retried = retried;
    message.restarts = restarts;
    message.sinceMs = atMs;
    flow?.countStart(atMs);
    this.dispatch?.attemptStarted(message);
  }

  #deliver({ id, atMs }: QueueEventOf<'MessageDelivered'>): void {
    const message = this.messages.pending(id);
    this.#end(message, atMs, 'SUCCESS', true);
    this.#countNoMore(message);
    this.messages.setDelivered(message, atMs);
  }

  #failAttempt({ id, atMs, status, nextAtMs }: QueueEventOf<'AttemptFailed'>): void {
    const message = this.messages.pending(id);
    if (nextAtMs === undefined) return;
    this.#closeAttempt(message);
    message.status = WAITING;
    message.retried += 1;
    message.restarts = 0;
    message.sinceMs = atMs;
    message.dueAtMs = nextAtMs;
    const queue = this.queueOf(message.shared.envelope);
    if (queue !== undefined) queue.waiting += 1;
    this.dispatch?.attemptEnded(message, status > 0);
    this.dispatch?.waits(message);
  }

  #deadLetter(event: QueueEventOf<'MessageDeadLettered'>): void {
    const { id, atMs, dlqId, status, header, error, response } = event;
    const message = this.messages.pending(id);
    this.#end(message, atMs, 'FAIL', status > 0);
    this.messages.delete(message);
    this.#takeBody(response);
    const { shared, bodyNumber, bodyBytes, createdAtMs, notBeforeMs, retried } = message;
    // Envelope and body stay held: by the entry from now on.
    const entry: DlqEntry = {
      dlqId,
      messageId: id,
      envelope: shared.envelope,
      body: { number: bodyNumber, bytes: bodyBytes },
      createdAtMs,
      notBeforeMs,
      failedAtMs: atMs,
      retried,
      response: { status, header, error, body: { number: response.number, bytes: response.bytes } },
    };
    this.#enterDlq(entry);
    this.nextDlq = Math.max(this.nextDlq, numberOf(dlqId) + 1);
  }

  /** From now on it is nobody's message any more; only an open attempt has to come to its end. */
  #requestCancel(id: MessageId): void {
    const message = this.messages.pending(id);
    if (message.isCancelRequested) return;
    message.isCancelRequested = true;
    const queue = this.queueOf(message.shared.envelope);
    if (queue !== undefined) queue.lag -= 1;
  }

  #cancel({ id, atMs }: QueueEventOf<'MessageCancelled' | 'MessageFailed'>): void {
    const message = this.messages.pending(id);
    this.#end(message, atMs, 'FAIL', undefined);
    this.messages.delete(message);
    this.#letGo(message);
  }

  #end(message: Message, atMs: number, outcome: 'SUCCESS' | 'FAIL', hasAnswered: boolean | undefined): void {
    const { envelope } = message.shared;
    const { queues } = this;
    const queue = this.queueOf(envelope);
    if (queue !== undefined && !message.isCancelRequested) queue.lag -= 1;
    if (message.status === ACTIVE) {
      this.#closeAttempt(message);
      this.dispatch?.attemptEnded(message, hasAnswered);
    } else {
      this.dispatch?.leaves(message);
      if (queue !== undefined) queue.waiting -= 1;
    }
    const { flowControl } = envelope.settings;
    if (flowControl !== undefined) this.flows.leave(flowControl.key, atMs);
    if (envelope.workflow !== undefined) this.runs.left(message);
    if (envelope.scheduleId !== undefined) this.schedules.noteOutcome(envelope.scheduleId, message.id, outcome);
    this.#queueChanged(queues.endHolder(message.id));
    if (message.holdsPlaceOf !== undefined) this.#queueChanged(queues.endCallback(message.holdsPlaceOf));
  }

  #closeAttempt(message: Message): void {
    this.messages.active.delete(message);
    const { flowControl } = message.shared.envelope.settings;
    if (!message.hasToken || flowControl === undefined) return;
    message.hasToken = false;
    const flow = this.flows.get(flowControl.key);
    if (flow !== undefined) flow.active -= 1;
  }

  #queueChanged(queue: OrderedQueue | undefined): void {
    if (queue !== undefined) this.dispatch?.queueChanged(queue);
  }

  #letGo(message: Message): void {
    const { shared, bodyNumber } = message;
    if (message.status !== DELIVERED) this.#countNoMore(message);
    this.envelopes.drop(shared);
    if (this.references.remove(bodyNumber)) this.bodies.drop(bodyNumber);
  }

  /** HE1: from its delivery on. */
  #countNoMore({ shared, bodyNumber, bodyBytes }: Message): void {
    this.envelopes.uncount(shared);
    this.#heldBodies.remove(bodyNumber, bodyBytes);
  }

  // ── what shares bodies with them ──

  #enterDlq(entry: DlqEntry): void {
    if (entry.envelope.workflow === undefined) this.dlq.add(entry);
    else this.runs.addEntry(entry);
  }

  #leaveDlq(dlqId: DlqId): void {
    this.#dropEntry(this.runs.dropEntry(dlqId) ?? this.dlq.delete(dlqId));
  }

  #dropEntry(entry: DlqEntry): void {
    this.envelopes.releaseOf(entry.envelope);
    this.#dropBody(entry.body);
    this.#dropBody(entry.response.body);
  }

  #takeBody(body: CarriedBody): void {
    this.#holdBody(body);
    this.#storeBody(body);
  }

  #holdBody({ number, bytes }: BodyRef): void {
    this.references.add(number);
    this.#heldBodies.add(number, bytes);
  }

  #storeBody({ number, content }: CarriedBody): void {
    if (number >= this.nextBody) this.nextBody = number + 1;
    if (number > 0 && content !== undefined) this.bodies.put(number, content);
  }

  #dropBody({ number, bytes }: BodyRef): void {
    this.#heldBodies.remove(number, bytes);
    if (this.references.remove(number)) this.bodies.drop(number);
  }

  #resetFlow(event: QueueEventOf<'FlowReset'>): void {
    if (event.all) {
      for (const message of this.messages.active) {
        if (message.shared.envelope.settings.flowControl?.key === event.key) message.hasToken = false;
      }
    }
    this.flows.reset(event);
    this.dispatch?.flowChanged(event.key);
  }

  // ── snapshots ──

  #restoreMessage(event: QueueEventOf<'MessageRestored'>): void {
    const { id, body, createdAtMs, notBeforeMs, dueAtMs, order, holdsPlaceOf } = event;
    const shared = this.envelopes.hold(event.envelope);
    const { number, bytes } = body;
    const message = new Message(id, shared, number, bytes, createdAtMs, notBeforeMs, dueAtMs, order, holdsPlaceOf);
    message.retried = event.retried;
    message.restarts = event.restarts;
    message.sinceMs = event.sinceMs;
    message.isCancelRequested = event.isCancelRequested;
    this.messages.add(message);
    this.#holdBody(body);
    if (event.workflow !== undefined) this.runs.restored(message, event.workflow, event.status === 'waiting');
    if (event.status === 'delivered') {
      this.#countNoMore(message);
      this.messages.setDelivered(message, event.sinceMs);
      return;
    }
    const { flowControl } = shared.envelope.settings;
    if (flowControl !== undefined) {
      // Those without a token stand before their key in a snapshot (see `rebuildingEvents`).
      message.hasToken = event.status === 'active' && this.flows.get(flowControl.key)?.isKnown === true;
      this.flows.joinAsItIs(flowControl.key);
    }
    const queue = this.queueOf(shared.envelope);
    if (queue !== undefined && !message.isCancelRequested) queue.lag += 1;
    if (event.status === 'active') {
      message.status = ACTIVE;
      this.messages.active.add(message);
    } else if (queue !== undefined) queue.waiting += 1;
    const place = this.queues.placeOf(id);
    if (place !== undefined) place.hasEnded = false;
  }

  #restoreEntry(entry: DlqEntry): void {
    const { envelope } = this.envelopes.hold(entry.envelope);
    this.#enterDlq(envelope === entry.envelope ? entry : { ...entry, envelope });
    this.#holdBody(entry.body);
    this.#holdBody(entry.response.body);
  }

  #restoreAccount(event: QueueEventOf<'AccountRestored'>): void {
    this.nextBody = event.nextBody;
    this.nextOrder = event.nextOrder;
    this.nextDlq = event.nextDlq;
    this.intakePosition = event.intakePosition;
    this.nowMs = event.nowMs;
    this.usage.day = event.day;
    this.usage.messagesToday = event.messagesToday;
    this.usage.month = event.month;
    this.usage.messagesThisMonth = event.messagesThisMonth;
    this.usage.isDailyLimitReached = event.isDailyLimitReached;
  }
}

export function statusWord(message: Message): 'waiting' | 'active' | 'delivered' {
  if (message.status === DELIVERED) return 'delivered';
  return message.status === ACTIVE ? 'active' : 'waiting';
}
