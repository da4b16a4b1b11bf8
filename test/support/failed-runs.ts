/** Failed runs on a `WorkflowSpec`, and the calls about them. */
import { expect } from 'chai';
import type { QueueReply } from '../../src/domain/queue/index.js';
import type { FailedRunFilter, FailedRunSelector, FailedRunView, RunName } from '../../src/domain/queue/runs/index.js';
import type { DlqId } from '../../src/kernel/index.js';
import { answered, entryItem, message, planItem, run, type TriggerOptions, WorkflowSpec } from './workflow-spec.js';

/** The name of the first delivery of the first restarted run. */
export const AGAIN = 'again#first';

/** Runs that fail at their first delivery, without retries. */
export function failedAtFirst(runIds: string[], options: TriggerOptions = {}, spec = new WorkflowSpec()): WorkflowSpec {
  for (const runId of runIds) {
    spec.trigger(runId, { maxRetries: 0, ...options });
    spec.answer(`${runId}#0`, answered(500, [['X-A', '1']], `answer to ${runId}`));
  }
  return spec.skipEvents();
}

/** Run `r`, which fails at the last of `steps` sequential steps. */
export function failedAfter(steps: number, options: TriggerOptions = {}): WorkflowSpec {
  const spec = new WorkflowSpec();
  spec.trigger('r', { maxRetries: 0, ...options });
  for (let step = 1; step <= steps; step += 1) {
    spec.deliver(`r#${step - 1}`);
    spec.submit(entryItem('r', step));
  }
  spec.answer(`r#${steps}`, 500);
  return spec.skipEvents();
}

/** Run `r` with three announced parallel steps: two have no result, since one failed and one was in progress. */
export function failedInParallel(): WorkflowSpec {
  const spec = new WorkflowSpec();
  spec.trigger('r', { maxRetries: 0 });
  spec.deliver('r#0');
  const concurrent = 3;
  spec.submit(...[1, 2, 3].map((step) => planItem('r', step, { concurrent })));
  spec.deliver('r#p2');
  spec.submit(entryItem('r', 2, { concurrent }));
  spec.deliver('r#2');
  spec.answer('r#p1', 500);
  return spec.skipEvents();
}

export const byIds = (...dlqIds: DlqId[]): FailedRunSelector => ({ kind: 'ids', dlqIds });

export const byFilter = (filter: FailedRunFilter = {}, count = 100, after?: DlqId): FailedRunSelector => ({
  kind: 'filter',
  filter,
  count,
  after,
  order: 'earliestFirst',
});

export interface TakeUpOptions {
  readonly overrides?: readonly (readonly [string, string])[];
  readonly firstRunId?: string;
  readonly firstId?: string;
}

/** Resumes or restarts runs; the first new run is named `again`. */
export function takeUp(
  spec: WorkflowSpec,
  how: 'resume' | 'restart',
  selector: FailedRunSelector,
  { overrides = [], firstRunId = 'again', firstId = AGAIN }: TakeUpOptions = {},
): QueueReply {
  return spec.queue.ask({
    type: 'ResumeRuns',
    how,
    selector,
    firstRunId: run(firstRunId),
    firstId: message(firstId),
    overrides: { headers: overrides, query: [] },
  });
}

export const resume = (spec: WorkflowSpec, options?: TakeUpOptions): QueueReply =>
  takeUp(spec, 'resume', byIds(spec.dlqIdOf('r')), options);
export const restart = (spec: WorkflowSpec, options?: TakeUpOptions): QueueReply =>
  takeUp(spec, 'restart', byIds(spec.dlqIdOf('r')), options);

export function started(reply: QueueReply): readonly RunName[] {
  expect(reply.type, JSON.stringify(reply)).to.equal('RunsStarted');
  return reply.type === 'RunsStarted' ? reply.runs : [];
}

export function listed(
  spec: WorkflowSpec,
  selector: FailedRunSelector = byFilter(),
  maxBytes = 1e9,
): readonly FailedRunView[] {
  const reply = spec.queue.ask({ type: 'ListFailedRuns', selector, maxBytes });
  expect(reply.type, JSON.stringify(reply)).to.equal('FailedRuns');
  return reply.type === 'FailedRuns' ? reply.runs : [];
}

export const failedIds = (spec: WorkflowSpec, filter: FailedRunFilter = {}): string[] =>
  listed(spec, byFilter(filter)).map(({ runId }) => runId);

/** Expects that the live, replayed and restored states are equal, also in the bodies that they refer to. */
export function expectConserved(spec: WorkflowSpec): void {
  const { queue } = spec;
  const digest = queue.digest();
  expect(queue.replayed().digest(), 'after a replay').to.equal(digest);
  const rebuilt = queue.rebuilt();
  expect(rebuilt.digest(), 'from a snapshot').to.equal(digest);
  const kept = [...queue.shelf.contents.keys()].sort((a, b) => a - b);
  for (const number of kept) expect(queue.engine.isNeeded(number), `body ${number}`).to.equal(true);
  expect(kept.filter((number) => rebuilt.engine.isNeeded(number))).to.deep.equal(kept);
}
