/**
 * Calls, checked against the stored entries when they are made. Calls of a replaced owner are permitted by
 * at-least-once delivery: only their stored start is checked.
 */
import type { QueueEvent } from '../../src/domain/queue/index.js';
import type { MessageId, PartitionName } from '../../src/kernel/index.js';
import type { Call, SimDestinations } from './queue-destinations.js';
import type { LedgerMessage, LedgerRule, QueueLedger, Report } from './queue-ledger.js';
import type { QueueRule } from './queue-rules.js';
import type { WorkflowRule } from './queue-workflow-rules.js';

export class SinkChecks implements LedgerRule {
  private readonly callsByMessage = new Map<MessageId, Call[]>();
  private open: Call[] = [];
  private readonly lastOrders = new Map<string, number>();

  constructor(
    private readonly report: Report,
    private readonly queues: QueueRule,
    private readonly workflows: WorkflowRule,
  ) {}

  watch(destinations: SimDestinations, ledger: QueueLedger): void {
    destinations.onCall = (call) => this.called(call, ledger);
    destinations.onOutlived = ({ id, url }) => this.report('calls end with their owner', `${id} to ${url} is open`);
  }

  callsOf(id: MessageId): readonly Call[] {
    return this.callsByMessage.get(id) ?? [];
  }

  /** A journaled answer must be the one that the destination sent. */
  event(event: QueueEvent, _partition: PartitionName, ledger: QueueLedger): void {
    if (event.type !== 'MessageDelivered' && event.type !== 'AttemptFailed') return;
    if (event.status === 0) return;
    const { id, retried } = ledger.messages.get(event.id) as LedgerMessage;
    const made = event.type === 'AttemptFailed' && event.nextAtMs !== undefined ? retried - 1 : retried;
    const isTrue = this.callsOf(id).some((call) => call.retried === made && call.status === event.status);
    if (!isTrue) this.report('an outcome is what a destination answered', `${id}: nobody answered ${event.status}`);
  }

  private called(call: Call, ledger: QueueLedger): void {
    const { id, retried, caller } = call;
    const own = this.callsByMessage.get(id) ?? [];
    own.push(call);
    this.callsByMessage.set(id, own);
    const message = ledger.messages.get(id);
    if (message === undefined) {
      this.report('nothing is delivered that was not accepted', id);
      return;
    }
    const made = own.filter((other) => other.retried === retried && other.caller.epoch === caller.epoch).length;
    const started = message.starts.get(`${caller.epoch} ${retried}`) ?? 0;
    if (made > started)
      this.report(
        'a call is made after its start is stored, by whoever stored it',
        `${id}: call ${made} of attempt ${retried} in epoch ${caller.epoch}, which started ${started}`,
      );
    const problem = this.bodyProblem(call, message, ledger);
    if (call.url !== message.envelope.url || problem !== undefined)
      this.report('what is sent is what was accepted', `${id} to ${call.url}: ${problem}`);
    if (this.isLive(call, ledger)) this.judgeLive(call, message, ledger);
    this.open.push(call);
  }

  private bodyProblem({ body }: Call, message: LedgerMessage, ledger: QueueLedger): string | undefined {
    const { part } = message;
    if (part?.role === 'step') return this.workflows.listProblem(message, part, body, ledger);
    return Buffer.compare(body, ledger.bodyOf(message)) === 0 ? undefined : 'another body';
  }

  private judgeLive(call: Call, message: LedgerMessage, ledger: QueueLedger): void {
    const { id, retried } = call;
    if (!message.isOpen || message.retried !== retried)
      this.report('an owner makes the calls of open attempts', `${id} is ${message.end ?? 'waiting'}, sent ${retried}`);
    this.open = this.open.filter((other) => other.isOpen && !other.caller.process.isCrashed);
    const beside = this.open.filter((other) => this.isLive(other, ledger) && other.id !== id);
    const flow = message.envelope.settings.flowControl;
    if (flow?.parallelism !== undefined) {
      const open = beside.filter(({ id: other }) => {
        const { partition, envelope } = ledger.messages.get(other) as LedgerMessage;
        return partition === message.partition && envelope.settings.flowControl?.key === flow.key;
      });
      if (open.length >= flow.parallelism)
        this.report('a key has no more calls open than it may', `${id} beside ${open.map((other) => other.id)}`);
    }
    this.judgeQueue(message, beside);
  }

  private judgeQueue(message: LedgerMessage, beside: readonly Call[]): void {
    const place = this.queues.placeOf(message.id);
    if (place === undefined) return;
    const holders = new Set([place.holder]);
    for (const { id } of beside) {
      const other = this.queues.placeOf(id);
      if (other?.queue === place.queue) holders.add(other.holder);
    }
    if (holders.size > place.queue.parallelism)
      this.report('a queue has no more calls open than it may', [...holders].join(' beside '));
    const { queueName } = message.envelope;
    if (queueName === undefined || place.queue.parallelism > 1 || this.callsOf(message.id).length > 1) return;
    // Only first calls are checked, and delayed messages may be overtaken.
    if (message.notBeforeMs > message.acceptedAtMs) return;
    const key = `${message.partition} ${queueName}`;
    if (message.order < (this.lastOrders.get(key) ?? 0))
      this.report('a queue delivers in the order of acceptance', `${message.id} in ${queueName}`);
    this.lastOrders.set(key, message.order);
  }

  private isLive({ caller }: Call, ledger: QueueLedger): boolean {
    return ledger.epochs.get(caller.shard) === caller.epoch;
  }
}
