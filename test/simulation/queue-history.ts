/** The answers that publishers received, and the events that the journals must or must not hold because of them. */
import type { PublishItem, QueueReply } from '../../src/domain/queue/index.js';
import { describeError, isMillraceError, type MessageId } from '../../src/kernel/index.js';
import { isWithoutEffect } from './history.js';
import type { LedgerMessage, QueueLedger, Report } from './queue-ledger.js';

export type Told = 'answered' | 'rejected' | 'failed' | 'unknown';

export interface Publish {
  readonly items: readonly PublishItem[];
  told: Told;
  why: string;
}

export class QueueHistory {
  readonly publishes: Publish[] = [];
  /** The message ids that an answer contained. */
  readonly answered: MessageId[] = [];
  readonly counts = { answered: 0, rejected: 0, failed: 0, unknown: 0, duplicates: 0 };

  constructor(
    private readonly ledger: QueueLedger,
    private readonly report: Report,
  ) {}

  begin(items: readonly PublishItem[]): Publish {
    // The outcome is unknown until there is an answer.
    const publish: Publish = { items, told: 'unknown', why: '' };
    this.publishes.push(publish);
    return publish;
  }

  replied(publish: Publish, reply: QueueReply): void {
    if (reply.type === 'Rejected') {
      this.end(publish, 'rejected', reply.message);
      return;
    }
    if (reply.type !== 'Published') {
      this.report('a publish is answered as one', reply.type);
      return;
    }
    this.end(publish, 'answered', '');
    for (const { messageId, isDuplicate } of reply.results.flat()) {
      if (isDuplicate) this.counts.duplicates += 1;
      if (!this.ledger.messages.has(messageId) && !this.ledger.told.has(messageId))
        this.report('an answer leaves after its entry is stored', `${messageId} is not journaled`);
      this.answered.push(messageId);
    }
  }

  failed(publish: Publish, error: unknown): void {
    if (isMillraceError(error, 'OUTCOME_UNKNOWN')) this.end(publish, 'unknown', describeError(error));
    else if (isMillraceError(error) && isWithoutEffect(error)) this.end(publish, 'failed', describeError(error));
    else this.report('a gateway fails as promised', String(error));
  }

  /** Checks accepted and refused publishes after all messages have ended. */
  check(mayWait: (message: LedgerMessage) => boolean): void {
    const { messages, told, pending } = this.ledger;
    for (const id of [...this.answered, ...told])
      if (!messages.has(id)) this.report('what was accepted is not lost', `${id} is in no journal`);
    for (const { items, told: ending, why } of this.publishes) {
      if (ending !== 'failed' && ending !== 'rejected') continue;
      for (const { id } of items)
        if (messages.has(id))
          this.report('a publish that failed has no effect', `${id} is accepted: ${ending}, ${why}`);
    }
    for (const message of pending)
      if (!mayWait(message))
        this.report('everything comes to its end', `${message.id} to ${message.envelope.url} is pending`);
  }

  private end(publish: Publish, told: Told, why: string): void {
    publish.told = told;
    publish.why = why;
    this.counts[told] += 1;
  }
}
