/** Which failed runs a call means: those that it names, or those that match, in the order of their failures. */
import type { DlqId } from '../../../kernel/index.js';
import type { QueueState } from '../accounts/queue-state.js';
import type { FailedRunFilter, FailedRunSelector } from '../runs/commands.js';
import type { FailedRun } from './failed-run-index.js';

/** One step looks at so many: about a millisecond. */
const LOOKED_AT_ONCE = 1000;

/** A page ends early rather than cost more than `most`; one run is always let in. */
export interface PageBound {
  readonly costOf: (failed: FailedRun) => number;
  readonly most: number;
}

export interface SelectedRuns {
  readonly runs: readonly FailedRun[];
  /** Where to go on; undefined when nothing more is meant. */
  readonly after: DlqId | undefined;
}

/** What is named and is not there is passed over. */
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
    // One more than there is room for shows that there is more.
    if (found.length === wanted || (found.length > 0 && cost > most)) {
      return { runs: found, after: found.at(-1)?.entry.dlqId };
    }
    found.push(failed);
  }
  return { runs: found, after: undefined };
}

/** Undefined: one that was looked at in vain. */
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

/** Prepared once for going over many. */
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
