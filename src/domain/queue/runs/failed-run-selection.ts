/** The failed runs that a call addresses: ids, or those that match a filter, in the order of failure. */
import type { DlqId } from '../../../kernel/index.js';
import type { FailedRun } from '../model/runs/failed-run-index.js';
import type { QueueState } from '../model/state/queue-state.js';
import type { FailedRunFilter, FailedRunSelector } from '../model/workflow-commands.js';

/** Runs that one step looks at: about 1 ms. */
const LOOKED_AT_ONCE = 1000;

/** A page ends before its cost exceeds `most`, but holds at least one run. */
export interface PageBound {
  readonly costOf: (failed: FailedRun) => number;
  readonly most: number;
}

export interface SelectedRuns {
  readonly runs: readonly FailedRun[];
  /** The start of the next page; undefined at the end. */
  readonly after: DlqId | undefined;
}

/** Unknown ids are skipped. */
export function* selectFailedRuns(
  selector: FailedRunSelector,
  { costOf, most }: PageBound,
  { runs }: QueueState,
): Generator<void, SelectedRuns> {
  const found: FailedRun[] = [];
  const wanted = selector.kind === 'ids' ? selector.dlqIds.length : selector.count;
  let cost = 0;
  let looked = 0;
  for (const failed of candidates(selector, runs)) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    if (failed === undefined) continue;
    cost += costOf(failed);
    // One more match than fits shows that another page exists.
    if (found.length === wanted || (found.length > 0 && cost > most)) {
      return { runs: found, after: found.at(-1)?.entry.dlqId };
    }
    found.push(failed);
  }
  return { runs: found, after: undefined };
}

/** Undefined: a run that does not match. */
function* candidates(selector: FailedRunSelector, runs: QueueState['runs']): Iterable<FailedRun | undefined> {
  if (selector.kind === 'ids') {
    for (const dlqId of new Set(selector.dlqIds)) yield runs.failed(dlqId);
    return;
  }
  const { filter, after, order } = selector;
  const matches = failedRunMatcher(filter);
  const { dlq } = runs;
  for (const { dlqId } of order === 'earliestFirst' ? dlq.ascending(after) : dlq.descending(after)) {
    const failed = runs.failed(dlqId);
    yield failed !== undefined && matches(failed) ? failed : undefined;
  }
}

/** Prepares the filter once for many runs. */
function failedRunMatcher(filter: FailedRunFilter): (failed: FailedRun) => boolean {
  const tests: ((failed: FailedRun) => boolean)[] = [];
  const oneOf = <Value>(values: readonly Value[] | undefined, of: (failed: FailedRun) => Value | undefined) => {
    if (values === undefined) return;
    const wanted: ReadonlySet<Value | undefined> = new Set(values);
    tests.push((failed) => {
      const value = of(failed);
      return value !== undefined && wanted.has(value);
    });
  };
  oneOf(filter.workflowUrl, ({ run }) => run.url);
  oneOf(filter.runId, ({ run }) => run.id as string);
  oneOf(filter.createdAtMs, ({ run }) => run.createdAtMs);
  oneOf(filter.flowControlKey, ({ run }) => run.shared.envelope.settings.flowControl?.key);
  oneOf(filter.callerIp, ({ run }) => run.shared.envelope.callerIp);
  oneOf(filter.failureFunctionState, ({ failureFunction }) => failureFunction?.state);
  oneOf(filter.url, ({ entry }) => entry.envelope.url);
  oneOf(filter.responseStatus, ({ entry }) => entry.response.status);
  const { label, fromMs, toMs } = filter;
  if (label !== undefined) {
    const wanted = new Set(label);
    tests.push(({ run }) => run.shared.envelope.settings.labels.some((one) => wanted.has(one)));
  }
  if (fromMs !== undefined) tests.push(({ entry }) => entry.failedAtMs >= fromMs);
  if (toMs !== undefined) tests.push(({ entry }) => entry.failedAtMs <= toMs);
  return (failed) => tests.every((test) => test(failed));
}
