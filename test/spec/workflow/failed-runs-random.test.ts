/**
 * Runs that start, continue, fail and are resumed in random order: the state from a journal or a snapshot equals the
 * live one, no needed body is lost, and none is kept at the end. Proves FR1.
 */
import { expect } from 'chai';
import type { DlqId, MessageId } from '../../../src/kernel/index.js';
import { byFilter, byIds, expectConserved, listed, takeUp } from '../../support/failed-runs.js';
import { SETTINGS } from '../../support/queue-spec.js';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.js';
import {
  answered,
  callItem,
  ENDPOINT,
  entryItem,
  invokeItem,
  message,
  planItem,
  run,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const SEEDS = Array.from({ length: 25 }, (_, at) => 1000 + at);
const STEPS = 120;
const CHECKED_EVERY = 30;
const NOT_FOUND_HEADER: [string, string] = ['Svc-Workflow-Failure-Callback-Notfound', 'true'];

class Wanderer {
  readonly spec = new WorkflowSpec();
  readonly #random: SeededRandom;
  #count = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  step(): void {
    const { spec } = this;
    const steps: readonly (() => unknown)[] = [
      () => this.#trigger(),
      () => this.#conclude(),
      () => this.#conclude(),
      () => this.#conclude(),
      () => this.#submit(),
      () => this.#submit(),
      () => this.#submit(),
      () => this.#end(),
      () => this.#takeUp(),
      () => this.#takeUp(),
      () => this.#aboutFunction('RunFailureFunction'),
      () => this.#aboutFunction('CancelFailureFunction'),
      () => spec.pass(this.#random.pick([0, 1, 10_000, 400_000])),
    ];
    this.#random.pick(steps)();
    spec.work();
  }

  /** Ends all runs. */
  finish(): void {
    const { spec } = this;
    for (const id of this.#active()) spec.cancel(id);
    // Retries that wait, too.
    spec.pass(24 * 3600 * 1000);
    for (let open = this.#open(); open.length > 0; open = this.#open()) {
      for (const id of open) spec.queue.outcome(id, answered(200));
      spec.pass(24 * 3600 * 1000);
    }
    spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter() });
    // Delivered messages are forgotten with later events, some with each.
    spec.pass(600_000);
    for (let at = 0; at < STEPS * 4; at += 1) spec.queue.ask({ type: 'PauseFlow', key: 'k', isPaused: at % 2 === 0 });
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}${this.#count}`;
  }

  #trigger(): void {
    const settings = { ...SETTINGS, maxRetries: this.#random.below(2) };
    const failureCallback = this.#random.below(3) === 0 ? undefined : { url: ENDPOINT, settings };
    const body = this.#random.below(4) === 0 ? '' : undefined;
    const options = { maxRetries: this.#random.below(2), failureCallback, ...(body === undefined ? {} : { body }) };
    this.spec.trigger(this.#name('r'), options);
  }

  #conclude(): void {
    const open = this.#open();
    if (open.length === 0) return;
    const status = this.#random.pick([200, 200, 500, 500, 400]);
    const header: [string, string][] = this.#random.below(5) === 0 ? [NOT_FOUND_HEADER] : [];
    this.spec.queue.outcome(this.#random.pick(open), answered(status, header, this.#name('answer ')));
  }

  #submit(): void {
    const active = this.#active();
    if (active.length === 0) return;
    const { spec } = this;
    const runId = this.#random.pick(active);
    const step = 1 + this.#random.below(6);
    const id = this.#name(`${runId}#`);
    const what = this.#random.below(6);
    if (what === 0) spec.submit(callItem(runId, step, { id }));
    else if (what === 1) spec.submit(invokeItem(runId, step, this.#name('child'), { id, maxRetries: 0 }));
    else if (what === 2) spec.wait(runId, step, 'e', { seconds: 300, resultId: id });
    else if (what === 3) {
      const concurrent = 2;
      spec.submit(planItem(runId, step, { id, concurrent }), planItem(runId, step + 1, { id: `${id}b`, concurrent }));
    } else spec.submit(entryItem(runId, step, { id }));
  }

  #end(): void {
    const active = this.#active();
    if (active.length === 0 || this.#random.below(3) > 0) return;
    const runId = this.#random.pick(active);
    if (this.#random.below(2) === 0) this.spec.finish(runId, '1');
    else this.spec.cancel(runId);
  }

  #takeUp(): void {
    const { spec } = this;
    const how = this.#random.pick(['resume', 'restart'] as const);
    const dlqIds = this.#failed();
    const selector =
      dlqIds.length > 0 && this.#random.below(2) === 0 ? byIds(this.#random.pick(dlqIds)) : byFilter({}, 2);
    const overrides = this.#random.below(2) === 0 ? [] : ([['svc-retries', '0']] as const);
    const options = { overrides, firstRunId: this.#name('again'), firstId: this.#name('first') };
    const reply = takeUp(spec, how, selector, options);
    expect(reply.type).to.equal('RunsStarted');
    const before = spec.queue.journal.length;
    const again = takeUp(spec, how, selector, options);
    if (reply.type !== 'RunsStarted' || again.type !== 'RunsStarted' || reply.runs.length === 0) return;
    expect(again.runs).to.deep.equal(reply.runs);
    expect(spec.queue.journal.length).to.equal(before);
  }

  #aboutFunction(type: 'RunFailureFunction' | 'CancelFailureFunction'): void {
    const dlqIds = this.#failed();
    if (dlqIds.length === 0) return;
    const dlqId = this.#random.pick(dlqIds);
    const messageId = message(this.#name('function'));
    this.spec.queue.ask(type === 'RunFailureFunction' ? { type, dlqId, messageId } : { type, dlqId });
  }

  #failed(): DlqId[] {
    return listed(this.spec).map(({ entry }) => entry.dlqId);
  }

  #open(): MessageId[] {
    const accepted = this.spec.all('MessageAccepted').map(({ id }) => id);
    return accepted.filter((id) => this.spec.queue.engine.attemptOf(id) !== undefined);
  }

  #active(): string[] {
    return this.spec
      .all('RunStarted')
      .map(({ runId }) => runId)
      .filter((runId) => this.spec.isActive(run(runId)));
  }
}

describe('workflow: failed runs in any order', () => {
  for (const seed of SEEDS) {
    it(`match their journal, and keep no data for ever (seed ${seed})`, () => {
      const wanderer = new Wanderer(seed);
      for (let at = 1; at <= STEPS; at += 1) {
        wanderer.step();
        if (at % CHECKED_EVERY === 0) expectConserved(wanderer.spec);
      }
      wanderer.finish();
      expectConserved(wanderer.spec);
      expect([...wanderer.spec.queue.shelf.contents.keys()]).to.deep.equal([]);
    });
  }
});
