/** Random histories of runs, as endpoints, third parties and clients produce them: steps, answers, events and ends. */
import type { PublishItem, QueueEngine } from '../../src/domain/queue/index.js';
import type { RunPart, StepMark } from '../../src/domain/queue/runs/index.js';
import type { MessageId, RunId } from '../../src/kernel/index.js';
import { SETTINGS } from './queue-spec.js';
import { seededRandom } from './seeded-random.js';
import { answered, callItem, entryItem, invokeItem, planItem, type WorkflowSpec } from './workflow-spec.js';

type OpenAttempt = NonNullable<ReturnType<QueueEngine['attemptOf']>>;
type StepPart = Extract<RunPart, { role: 'step' }>;

const FAILURE = { url: 'https://app.example/failure', settings: { ...SETTINGS, maxRetries: 1, retryDelay: '1000' } };
const NOT_FOUND: [string, string][] = [['Svc-Workflow-Failure-Callback-Notfound', 'true']];

export class RandomRuns {
  readonly #random;
  #made = 0;
  #looked = 0;
  readonly #pending = new Set<MessageId>();

  constructor(
    private readonly spec: WorkflowSpec,
    seed: number,
  ) {
    this.#random = seededRandom(seed);
  }

  activeRuns(): string[] {
    return this.#stateOfRuns((state) => state === 'active');
  }

  /** The runs in the DLQ. */
  failedRuns(): string[] {
    return this.#stateOfRuns((state) => state === 'failed');
  }

  operate(): void {
    const { spec } = this;
    const attempts = this.#attempts();
    const roll = this.#random.below(20);
    if (roll < 3 || attempts.length === 0) this.#begin();
    else if (roll < 14) this.#conclude(this.#random.pick(attempts));
    else if (roll < 16) spec.pass(this.#random.pick([100, 5000, 120_000]));
    else if (roll < 17) spec.notify(`evt${this.#random.below(3)}`, this.#name('note'));
    else if (roll < 18) this.#end();
    else this.#fromDlq();
  }

  #begin(): void {
    const runId = this.#name('run');
    const random = this.#random;
    this.spec.trigger(runId, {
      maxRetries: random.below(3),
      retryDelay: '2000',
      labels: [`l${random.below(3)}`],
      ...(random.below(3) > 0 && { failureCallback: FAILURE }),
      ...(random.below(8) === 0 && { delaySeconds: 3 }),
    });
  }

  #conclude(attempt: OpenAttempt): void {
    const { spec } = this;
    const { id, run } = attempt;
    const part = run?.part;
    if (part === undefined) return;
    const isBad = this.#random.below(5) === 0;
    const isOver = !spec.isActive(part.runId);
    if (isBad && (isOver || this.#random.below(2) === 0)) return void spec.answer(id, answered(500, [], 'broken'));
    if (!isOver && part.role === 'step') this.#act(part, run?.entries.map(({ step }) => step) ?? []);
    else if (!isOver && part.role === 'result') {
      const { runId, step } = part;
      const out = JSON.stringify({ status: 200, header: {}, body: 'made' });
      const options = { ...kept(step, 'Call'), body: JSON.stringify({ out }) };
      spec.submit(entryItem(runId, step.stepId, { ...options, id: this.#name('entry') }));
    }
    const isMissing = part.role === 'failure' && this.#random.below(3) === 0;
    const status = isBad ? 500 : 200;
    spec.answer(id, answered(status, isMissing ? NOT_FOUND : [], 'fine'));
  }

  /** The next action of the function after these steps. */
  #act({ runId, step }: StepPart, steps: readonly (StepMark | undefined)[]): void {
    if (step?.stepId === 0) {
      this.#step(runId, step.targetStep, step.concurrent);
      return;
    }
    const inGroup = steps.filter(
      (one) => one !== undefined && step !== undefined && step.concurrent > 1 && isSibling(one, step),
    );
    if (step !== undefined && step.concurrent > 1 && inGroup.length < 2 * step.concurrent) return;
    const next = 1 + Math.max(0, ...steps.map((one) => Math.max(one?.stepId ?? 0, one?.targetStep ?? 0)));
    const roll = this.#random.below(12);
    if (roll === 0) this.spec.cancel(runId);
    else if (roll < 3) this.spec.finish(runId, '"end"');
    else if (roll < 6) {
      const concurrent = 2 + this.#random.below(2);
      const plans = Array.from({ length: concurrent }, (_, at) => {
        const body = JSON.stringify({ stepName: `step ${next + at}` });
        return planItem(runId, next + at, { concurrent, id: this.#name('plan'), body });
      });
      this.spec.submit(...plans);
    } else this.#step(runId, next, 1);
  }

  #step(runId: string, stepId: number, concurrent: number): void {
    const { spec } = this;
    const id = this.#name('step');
    const roll = this.#random.below(10);
    const submit = (item: PublishItem) => spec.submit(item);
    if (roll < 4) submit(entryItem(runId, stepId, { id, concurrent, body: '{"out":"1"}' }));
    else if (roll < 6) {
      const notBeforeMs = concurrent > 1 ? undefined : spec.queue.nowMs + 4000;
      const body = JSON.stringify({ sleepFor: 4 });
      submit(entryItem(runId, stepId, { id, concurrent, type: 'SleepFor', body, ...(notBeforeMs && { notBeforeMs }) }));
    } else if (roll < 8) submit(callItem(runId, stepId, { id, concurrent, maxRetries: 1, retryDelay: '1000' }));
    else if (roll < 9) spec.wait(runId, stepId, `evt${this.#random.below(3)}`, { resultId: id });
    else submit(invokeItem(runId, stepId, this.#name('child'), { id, concurrent, maxRetries: 0 }));
  }

  #end(): void {
    const active = this.activeRuns();
    if (active.length > 3) this.spec.cancel(this.#random.pick(active));
  }

  #fromDlq(): void {
    const { queue } = this.spec;
    const ended = this.spec.all('RunEnded').filter(({ dlqId }) => dlqId !== undefined);
    if (ended.length < 3) return;
    const dlqId = this.#random.pick(ended).dlqId as NonNullable<(typeof ended)[number]['dlqId']>;
    const selector = { kind: 'ids', dlqIds: [dlqId] } as const;
    const roll = this.#random.below(4);
    if (roll === 0) queue.ask({ type: 'DeleteFailedRuns', selector });
    else if (roll === 1) queue.ask({ type: 'RunFailureFunction', dlqId, messageId: this.#name('again') as MessageId });
    else {
      queue.ask({
        type: 'ResumeRuns',
        how: roll === 2 ? 'resume' : 'restart',
        selector,
        firstRunId: this.#name('resumed') as RunId,
        firstId: this.#name('first') as MessageId,
        overrides: { headers: [], query: [] },
      });
    }
  }

  #attempts(): OpenAttempt[] {
    const { queue } = this.spec;
    queue.work();
    for (; this.#looked < queue.journal.length; this.#looked += 1) {
      const event = queue.journal[this.#looked];
      if (event?.type === 'MessageAccepted') this.#pending.add(event.id);
      else if (event?.type === 'MessageDelivered' || event?.type === 'MessageCancelled') this.#pending.delete(event.id);
    }
    return [...this.#pending].map((id) => queue.engine.attemptOf(id)).filter((attempt) => attempt !== undefined);
  }

  /** The runs of a state, according to the events that rebuild the owner's state. */
  #stateOfRuns(is: (state: 'active' | 'failed') => boolean): string[] {
    return [...this.spec.queue.engine.rebuildingEvents()]
      .flatMap((event) => (event.type === 'RunRestored' ? [event] : []))
      .filter(({ dlqId }) => is(dlqId === undefined ? 'active' : 'failed'))
      .map(({ runId }) => runId)
      .sort();
  }

  #name(kind: string): string {
    this.#made += 1;
    return `${kind}${this.#made}`;
  }
}

/** Returns true for steps of one parallel group, announced or done. */
function isSibling(one: StepMark, step: StepMark): boolean {
  const id = one.stepId === 0 ? one.targetStep : one.stepId;
  return one.concurrent === step.concurrent && Math.abs(id - step.stepId) < step.concurrent;
}

function kept({ concurrent }: StepMark, type: string) {
  return { concurrent, type };
}
