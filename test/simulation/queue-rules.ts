/** Rules across messages that are checked in the journal: queues, flow-control keys and schedules. */
import { nextTickAfter, type QueueEvent, type QueueEventOf } from '../../src/domain/queue/index.js';
import type { MessageId, PartitionName } from '../../src/kernel/index.js';
import type { LedgerMessage, LedgerRule, QueueLedger, Report } from './queue-ledger.js';

interface QueueFacts {
  parallelism: number;
  hasAlwaysBeenOne: boolean;
  /** The started messages that have not ended with all callbacks; each with its unended parts. */
  readonly holders: Map<MessageId, Set<MessageId>>;
  /** The messages that were accepted and not started, in order. */
  readonly waiting: Set<LedgerMessage>;
}

/**
 * A queue has at most its parallelism of active messages and starts them in order; a message is active until its
 * callbacks have ended.
 */
export class QueueRule implements LedgerRule {
  private readonly queues = new Map<string, QueueFacts>();
  private readonly holderOf = new Map<MessageId, { queue: QueueFacts; holder: MessageId }>();

  constructor(private readonly report: Report) {}

  /** The message that holds the slot for the calls of another message. */
  placeOf(id: MessageId): { readonly queue: { readonly parallelism: number }; readonly holder: MessageId } | undefined {
    return this.holderOf.get(id);
  }

  event(event: QueueEvent, partition: PartitionName, ledger: QueueLedger): void {
    switch (event.type) {
      case 'QueueSet': {
        const queue = this.queueOf(partition, event.name);
        queue.parallelism = event.parallelism;
        if (event.parallelism !== 1) queue.hasAlwaysBeenOne = false;
        return;
      }
      case 'MessageAccepted':
        this.accepted(event, partition, ledger);
        return;
      case 'AttemptStarted':
        this.started(event, partition, ledger);
        return;
      case 'MessageDelivered':
      case 'MessageDeadLettered':
      case 'MessageCancelled':
        this.ended(event.id, ledger);
        return;
      default:
        return;
    }
  }

  private accepted(event: QueueEventOf<'MessageAccepted'>, partition: PartitionName, ledger: QueueLedger): void {
    const { id, envelope, retryOf } = event;
    const { callbackOf } = envelope;
    // A message that is resent from the DLQ has its own slot.
    const place = callbackOf === undefined || retryOf !== undefined ? undefined : this.holderOf.get(callbackOf);
    if (place !== undefined) {
      place.queue.holders.get(place.holder)?.add(id);
      this.holderOf.set(id, place);
    }
    if (envelope.queueName !== undefined)
      this.queueOf(partition, envelope.queueName).waiting.add(ledger.messages.get(id) as LedgerMessage);
  }

  private started({ id, atMs }: QueueEventOf<'AttemptStarted'>, partition: PartitionName, ledger: QueueLedger): void {
    const message = ledger.messages.get(id) as LedgerMessage;
    const { queueName } = message.envelope;
    if (queueName === undefined) return;
    const queue = this.queueOf(partition, queueName);
    if (!queue.waiting.delete(message)) return;
    if (queue.holders.size >= queue.parallelism)
      this.report(
        'a queue has no more messages under way than it may',
        `${id} starts in ${queueName} beside ${[...queue.holders.keys()]}`,
      );
    queue.holders.set(id, new Set([id]));
    this.holderOf.set(id, { queue, holder: id });
    if (!queue.hasAlwaysBeenOne) return;
    for (const earlier of queue.waiting) {
      if (earlier.order < message.order && earlier.notBeforeMs <= atMs)
        this.report('a queue takes messages in order', `${id} starts in ${queueName} before ${earlier.id}`);
    }
  }

  private ended(id: MessageId, ledger: QueueLedger): void {
    const { partition, envelope } = ledger.messages.get(id) as LedgerMessage;
    if (envelope.queueName !== undefined)
      this.queueOf(partition, envelope.queueName).waiting.delete(ledger.messages.get(id) as LedgerMessage);
    const place = this.holderOf.get(id);
    const open = place?.queue.holders.get(place.holder);
    if (place === undefined || open === undefined) return;
    open.delete(id);
    if (open.size === 0) place.queue.holders.delete(place.holder);
  }

  private queueOf(partition: PartitionName, name: string): QueueFacts {
    const key = `${partition} ${name}`;
    let queue = this.queues.get(key);
    if (queue === undefined) {
      queue = { parallelism: 1, hasAlwaysBeenOne: true, holders: new Map(), waiting: new Set() };
      this.queues.set(key, queue);
    }
    return queue;
  }
}

/**
 * A key has at most its parallelism of active calls and starts at most its rate within a window; all its messages
 * have the same limits.
 */
export class FlowRule implements LedgerRule {
  private readonly keys = new Map<string, { active: Set<MessageId>; windowStartMs: number; started: number }>();

  constructor(private readonly report: Report) {}

  event(event: QueueEvent, partition: PartitionName, ledger: QueueLedger): void {
    if (event.type === 'AttemptStarted') this.started(event, partition, ledger);
    else if (
      event.type === 'MessageDelivered' ||
      event.type === 'AttemptFailed' ||
      event.type === 'MessageDeadLettered' ||
      event.type === 'MessageCancelled'
    ) {
      const key = ledger.messages.get(event.id)?.envelope.settings.flowControl?.key;
      if (key !== undefined) this.keys.get(`${partition} ${key}`)?.active.delete(event.id);
    }
  }

  private started({ id, atMs }: QueueEventOf<'AttemptStarted'>, partition: PartitionName, ledger: QueueLedger): void {
    const setting = ledger.messages.get(id)?.envelope.settings.flowControl;
    if (setting === undefined) return;
    const name = `${partition} ${setting.key}`;
    const flow = this.keys.get(name) ?? { active: new Set(), windowStartMs: 0, started: 0 };
    this.keys.set(name, flow);
    flow.active.add(id);
    if (setting.parallelism !== undefined && flow.active.size > setting.parallelism)
      this.report('a key has no more calls active than it may', `${name}: ${[...flow.active]}`);
    if (flow.windowStartMs + setting.periodSeconds * 1000 <= atMs) {
      flow.windowStartMs = atMs;
      flow.started = 0;
    }
    flow.started += 1;
    if (setting.rate !== undefined && flow.started > setting.rate)
      this.report('a key starts no more calls within a window than it may', `${name}: ${flow.started} at ${atMs}`);
  }
}

/** Each tick is executed or skipped, once and in order; its messages are accepted in the same entry. */
export class ScheduleRule implements LedgerRule {
  private readonly schedules = new Map<string, { cron: string; nextTickAtMs: number }>();

  constructor(private readonly report: Report) {}

  event(event: QueueEvent, partition: PartitionName, ledger: QueueLedger): void {
    switch (event.type) {
      case 'ScheduleSet': {
        const { id, cron, nextTickAtMs } = event.schedule;
        this.schedules.set(`${partition} ${id}`, { cron, nextTickAtMs });
        return;
      }
      case 'SchedulePaused':
        this.moveTo(`${partition} ${event.id}`, event.nextTickAtMs);
        return;
      case 'ScheduleFired': {
        const name = `${partition} ${event.id}`;
        const { cron } = this.expect(name, event.tickAtMs);
        if (event.nextTickAtMs !== nextTickAfter(cron, event.tickAtMs))
          this.report('no tick is left out', `${name}: after ${event.tickAtMs} comes ${event.nextTickAtMs}`);
        for (const id of event.messages)
          if (!ledger.messages.has(id)) this.report('a tick comes with its messages', `${name}: ${id} is not there`);
        this.moveTo(name, event.nextTickAtMs);
        return;
      }
      case 'ScheduleSkipped':
        this.expect(`${partition} ${event.id}`, event.tickAtMs);
        this.moveTo(`${partition} ${event.id}`, event.nextTickAtMs);
        return;
      default:
        return;
    }
  }

  private expect(name: string, tickAtMs: number): { cron: string } {
    const schedule = this.schedules.get(name);
    if (schedule?.nextTickAtMs !== tickAtMs)
      this.report('each tick is made once', `${name}: ${tickAtMs} instead of ${schedule?.nextTickAtMs}`);
    return { cron: schedule?.cron ?? '' };
  }

  private moveTo(name: string, nextTickAtMs: number): void {
    const schedule = this.schedules.get(name);
    if (schedule !== undefined) schedule.nextTickAtMs = nextTickAtMs;
  }
}
