/**
 * Rules for the journals of workflow runs, and for the answers to clients of runs.
 *
 *  RR1 an entry follows the one before it, no step is in a run twice, and no entry follows the end of a run
 *  RR2 a wait ends once, by a notify, by its deadline or with its run, and its result is in the same entry as its end
 *  RR3 a step invokes one child; the child's end is its result, in the same entry, while the parent goes on
 *  RR4 a delivery of a run contains the list of its entries up to the delivered one
 *  RR5 the journal holds every acknowledged entry; the answer "over" is given for runs that are over, and for no
 *      others
 */
import type { QueueEvent, QueueEventOf, QueueReply } from '../../src/domain/queue/index.js';
import type { Invoker, RunPart, StepMark } from '../../src/domain/queue/runs/index.js';
import type { MessageId, PartitionName, RunId } from '../../src/kernel/index.js';
import type { LedgerMessage, LedgerRule, QueueLedger, Report } from './queue-ledger.js';

interface RunFacts {
  readonly createdAtMs: number;
  readonly entries: { readonly id: MessageId; readonly step: StepMark | undefined }[];
  readonly steps: Set<string>;
  readonly invoker: Invoker | undefined;
  /** The state of each wait, by step. */
  readonly waits: Map<number, 'open' | 'ended'>;
  isOver: boolean;
}

interface ListedEntry {
  readonly messageId: string;
  readonly body: string;
}

export class WorkflowRule implements LedgerRule {
  readonly counts = { runs: 0, children: 0, entries: 0, notified: 0, timeouts: 0, over: 0 };
  /** The latest run of each id. */
  private readonly runs = new Map<string, RunFacts>();
  /** The child runs, by parent and step. */
  private readonly children = new Map<string, RunId>();

  constructor(private readonly report: Report) {}

  event(event: QueueEvent, partition: PartitionName, ledger: QueueLedger): void {
    switch (event.type) {
      case 'RunStarted':
        this.started(event, partition);
        return;
      case 'MessageAccepted':
        if (event.workflow?.role === 'step') this.appended(event.id, event.workflow, partition, ledger);
        return;
      case 'WaiterAdded': {
        const { runId, step } = event.waiter;
        const run = this.active(partition, runId, 'waits');
        if (run?.waits.has(step.stepId) || run?.steps.has(stepKey(step)))
          this.report('a step waits once', `${runId} waits again at ${step.stepId}`);
        run?.waits.set(step.stepId, 'open');
        return;
      }
      case 'WaiterRemoved':
        this.waited(event, partition, ledger);
        return;
      case 'RunEnded': {
        const run = this.active(partition, event.runId, 'ends');
        if (run === undefined) return;
        run.isOver = true;
        this.counts.over += 1;
        if (run.invoker !== undefined) this.oweResult(run.invoker, event.runId, partition, ledger);
        return;
      }
      default:
        return;
    }
  }

  /** The number of open waits of active runs. */
  get openWaits(): number {
    const open = [...this.runs.values()].filter(({ isOver }) => !isOver);
    return open.reduce((sum, { waits }) => sum + [...waits.values()].filter((how) => how === 'open').length, 0);
  }

  /** RR4. @returns the defect of the body, if any */
  listProblem(message: LedgerMessage, part: RunPart & { role: 'step' }, body: Uint8Array, ledger: QueueLedger) {
    const run = this.runs.get(`${message.partition} ${part.runId}`);
    // The run has been replaced by another with its id, so its remaining deliveries are not checked.
    if (run?.createdAtMs !== part.runCreatedAtMs) return undefined;
    const sent = JSON.parse(Buffer.from(body).toString()) as ListedEntry[];
    const listed = run.entries.slice(0, part.index + 1).map(({ id }) => {
      const entry = ledger.messages.get(id) as LedgerMessage;
      return `${id} ${Buffer.from(ledger.bodyOf(entry)).toString('base64')}`;
    });
    const found = sent.map(({ messageId, body: content }) => `${messageId} ${content}`);
    return found.join() === listed.join() ? undefined : `${part.runId} sends ${found} instead of ${listed}`;
  }

  /** RR5. */
  acknowledged(partition: PartitionName, runId: RunId, step: StepMark | undefined): void {
    const run = this.runs.get(`${partition} ${runId}`);
    if (run === undefined) this.report('an acknowledged run is not lost', runId);
    else if (step !== undefined && !run.isOver && !run.steps.has(stepKey(step)))
      this.report('an acknowledged entry is not lost', `${runId} has no ${stepKey(step)}`);
  }

  waiting(partition: PartitionName, runId: RunId, step: StepMark): void {
    const run = this.runs.get(`${partition} ${runId}`);
    if (run?.isOver || run?.waits.has(step.stepId) || run?.steps.has(stepKey(step))) return;
    this.report('an acknowledged wait is not lost', `${runId} does not wait at ${step.stepId}`);
  }

  notified(reply: QueueReply, ledger: QueueLedger): void {
    if (reply.type !== 'Notified') return;
    for (const { messageId, waiter } of reply.notified)
      if (!ledger.messages.has(messageId))
        this.report('an acknowledged notify is not lost', `${messageId} of ${waiter.runId} is in no journal`);
  }

  ended(partition: PartitionName, runId: RunId): void {
    if (this.runs.get(`${partition} ${runId}`)?.isOver === false)
      this.report('an acknowledged end is not lost', `${runId} is active`);
  }

  over(partition: PartitionName, runId: RunId): void {
    const run = this.runs.get(`${partition} ${runId}`);
    if (run !== undefined && !run.isOver) this.report('over is said of runs that are over', runId);
  }

  private started({ runId, atMs, invoker }: QueueEventOf<'RunStarted'>, partition: PartitionName): void {
    const key = `${partition} ${runId}`;
    if (this.runs.get(key)?.isOver === false) this.report('a run is started once', `${runId} is active already`);
    this.runs.set(key, { createdAtMs: atMs, entries: [], steps: new Set(), invoker, waits: new Map(), isOver: false });
    this.counts.runs += 1;
    if (invoker === undefined) return;
    const step = `${partition} ${invoker.runId} ${invoker.step.stepId}`;
    const other = this.children.get(step);
    if (other !== undefined) this.report('a step invokes one child', `${invoker.runId} has ${other} and ${runId}`);
    this.children.set(step, runId);
    this.counts.children += 1;
  }

  /** RR3. */
  private oweResult(
    { runId, runCreatedAtMs, step }: Invoker,
    child: RunId,
    partition: PartitionName,
    ledger: QueueLedger,
  ) {
    const parent = this.runs.get(`${partition} ${runId}`);
    if (parent === undefined || parent.isOver || parent.createdAtMs !== runCreatedAtMs) return;
    if (parent.steps.has(stepKey(step))) return;
    ledger.owe(`invoke ${partition} ${runId} ${step.stepId}`, `${child} ends, and ${runId} does not hear of it`);
  }

  /** RR1. */
  private appended(
    id: MessageId,
    { runId, index, step }: RunPart & { role: 'step' },
    partition: PartitionName,
    ledger: QueueLedger,
  ): void {
    const run = this.active(partition, runId, 'is appended to');
    if (run === undefined) return;
    if (index !== run.entries.length)
      this.report('an entry follows the one before it', `${runId}: ${index} after ${run.entries.length}`);
    run.entries.push({ id, step });
    this.counts.entries += 1;
    if (step === undefined) return;
    if (run.steps.has(stepKey(step))) this.report('no step is in a run twice', `${runId} has ${stepKey(step)} twice`);
    run.steps.add(stepKey(step));
    for (const what of ['wait', 'invoke']) ledger.settled(`${what} ${partition} ${runId} ${step.stepId}`);
    if (run.waits.get(step.stepId) === 'open')
      this.report('what brings the result ends the wait', `${runId} still waits at ${step.stepId}`);
  }

  /** RR2. */
  private waited(event: QueueEventOf<'WaiterRemoved'>, partition: PartitionName, ledger: QueueLedger): void {
    const { runId, stepId, why } = event;
    const run = this.active(partition, runId, 'stops waiting');
    if (run === undefined) return;
    if (run.waits.get(stepId) !== 'open') this.report('a wait ends once', `${runId} at ${stepId}: ${why}`);
    run.waits.set(stepId, 'ended');
    this.counts[why === 'notified' ? 'notified' : 'timeouts'] += 1;
    ledger.owe(`wait ${partition} ${runId} ${stepId}`, `${runId} stops waiting at ${stepId} without a result`);
  }

  private active(partition: PartitionName, runId: RunId, what: string): RunFacts | undefined {
    const run = this.runs.get(`${partition} ${runId}`);
    if (run !== undefined && !run.isOver) return run;
    this.report('nothing is done to a run that is over', `${runId} ${what}`);
    return undefined;
  }
}

function stepKey({ stepId, targetStep }: StepMark): string {
  return `${stepId}>${targetStep}`;
}
