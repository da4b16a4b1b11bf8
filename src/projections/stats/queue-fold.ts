/**
 * Adds events of a queue account to the statistics. Requests are counted like the account's limits: acceptances and
 * retries, but no repetition after a crash. Messages of runs count as workflow messages and, as in the log, not among
 * the plain ones.
 */
import type { QueueEvent } from '../../domain/queue/index.js';
import type { MessageId } from '../../kernel/index.js';
import type { Delta, Deltas } from './deltas.js';
import type { LiveMessages } from './live-messages.js';
import { QUEUE_PLACES } from './metrics.js';

type Ended = Extract<QueueEvent, { type: 'MessageDelivered' | 'MessageDeadLettered' | 'MessageCancelled' }>;

const ENDS: Readonly<Record<Ended['type'], number>> = {
  MessageDelivered: QUEUE_PLACES.delivered,
  MessageDeadLettered: QUEUE_PLACES.failed,
  MessageCancelled: QUEUE_PLACES.cancelled,
};
const RUN_ENDS = {
  RUN_SUCCESS: QUEUE_PLACES.runsSucceeded,
  RUN_FAILED: QUEUE_PLACES.runsFailed,
  RUN_CANCELED: QUEUE_PLACES.runsCanceled,
} as const;

export class QueueStatisticsFold {
  constructor(
    private readonly deltas: Deltas,
    private readonly live: LiveMessages,
  ) {}

  /** @returns the change in the number of DLQ entries */
  apply(account: number, events: Iterable<QueueEvent>): number {
    let dlq = 0;
    for (const event of events) dlq += this.#apply(account, event);
    return dlq;
  }

  /** A pending message of a snapshot. */
  restored(account: number, event: QueueEvent): void {
    if (event.type !== 'MessageRestored' || event.status === 'delivered') return;
    const { id, body, createdAtMs: atMs, notBeforeMs } = event;
    const isOfRun = event.workflow !== undefined;
    this.live.add(account, id, { bytes: body.bytes, isOfRun }, { atMs, notBeforeMs });
  }

  #apply(account: number, event: QueueEvent): number {
    switch (event.type) {
      case 'MessageAccepted': {
        const isOfRun = event.workflow !== undefined;
        const { bytes } = event.body;
        this.live.add(account, event.id, { bytes, isOfRun }, event);
        const delta = this.deltas.of(account, event.atMs);
        delta.add(QUEUE_PLACES.acceptedBytes, bytes);
        if (!isOfRun) delta.add(QUEUE_PLACES.created, 1);
        charge(delta, isOfRun);
        return 0;
      }
      case 'AttemptStarted': {
        const message = this.live.find(account, event.id);
        const isOfRun = message?.isOfRun === true;
        const delta = this.deltas.of(account, event.atMs);
        if (!isOfRun) delta.add(QUEUE_PLACES.active, 1);
        delta.add(QUEUE_PLACES.sentBytes, message?.bytes ?? 0);
        if (event.retried > 0 && event.restarts === 0) charge(delta, isOfRun);
        return 0;
      }
      case 'AttemptFailed': {
        const delta = this.deltas.of(account, event.atMs);
        delta.add(QUEUE_PLACES.answeredBytes, event.response.length);
        if (this.#isOfRun(account, event.id)) return 0;
        delta.add(QUEUE_PLACES.error, 1);
        if (event.nextAtMs !== undefined) delta.add(QUEUE_PLACES.retry, 1);
        return 0;
      }
      case 'MessageDelivered':
      case 'MessageDeadLettered':
      case 'MessageCancelled':
        if (!this.#isOfRun(account, event.id)) this.deltas.of(account, event.atMs).add(ENDS[event.type], 1);
        this.live.end(account, event.id);
        return event.type === 'MessageDeadLettered' ? 1 : 0;
      case 'MessageFailed':
        this.live.end(account, event.id);
        return 0;
      case 'DlqDeleted':
      case 'DlqExpired':
        return -event.dlqIds.length;
      case 'DlqRetried':
        return -1;
      case 'RunStarted':
        this.deltas.of(account, event.atMs).add(QUEUE_PLACES.runsStarted, 1);
        return 0;
      case 'RunEnded':
        this.deltas.of(account, event.atMs).add(RUN_ENDS[event.state], 1);
        return 0;
      default:
        // Other events accept, end or send no message and no run.
        return 0;
    }
  }

  #isOfRun(account: number, id: MessageId): boolean {
    return this.live.find(account, id)?.isOfRun === true;
  }
}

function charge(delta: Delta, isOfRun: boolean): void {
  delta.add(QUEUE_PLACES.requests, 1);
  if (isOfRun) delta.add(QUEUE_PLACES.workflowRequests, 1);
}
