/** Compares the server's lists of runs with the expected outcomes of their programs. */
import { expect } from 'chai';
import { eventually } from './eventually.js';
import type { QueueProcess } from './queue-process.js';
import type { WorkflowLedger } from './workflow-ledger.js';
import type { ExpectedRun } from './workflow-model.js';

const LISTED_TIMEOUT_MS = 20_000;

/**
 * Waits until the read models are current, then checks that no run is active, that the log has all ends and that the
 * DLQ has all failed runs.
 * @returns one line for each violation
 */
export async function judgeListed(
  expected: readonly ExpectedRun[],
  queue: QueueProcess,
  ledger: WorkflowLedger,
): Promise<string[]> {
  const runs = expected.flatMap(withChildren).filter(({ program }) => ledger.runIds.has(program.id));
  let violations: string[] = [];
  const judged = async () => {
    violations = await violationsNow(runs, queue, ledger);
    expect(violations.length).to.equal(0);
  };
  await eventually(judged, { timeoutMs: LISTED_TIMEOUT_MS, everyMs: 200 }).catch(() => {});
  return violations;
}

/** The ids of failed runs in the DLQ. @throws if a run is there twice */
export async function listedFailedRuns(queue: QueueProcess): Promise<Set<string>> {
  const ids: string[] = [];
  let cursor = '';
  do {
    const { json } = await queue.get(`/v2/workflows/dlq?count=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    const page = json as { messages: { workflowRunId: string }[]; cursor?: string };
    ids.push(...page.messages.map(({ workflowRunId }) => workflowRunId));
    cursor = page.cursor ?? '';
  } while (cursor !== '');
  expect(new Set(ids).size, 'failed runs').to.equal(ids.length);
  return new Set(ids);
}

async function violationsNow(
  runs: readonly ExpectedRun[],
  queue: QueueProcess,
  ledger: WorkflowLedger,
): Promise<string[]> {
  const { json } = await queue.delete('/v2/workflows/runs?count=1000');
  const violations = (json as { cancelled: number }).cancelled === 0 ? [] : [`${JSON.stringify(json)} were active`];
  const failed = await listedFailedRuns(queue);
  for (const { program, state, result } of runs) {
    const [runId = ''] = ledger.runIds.get(program.id) ?? [];
    const response = state === 'RUN_SUCCESS' ? JSON.stringify(result) : undefined;
    const logged = await loggedOf(runId, queue);
    const wanted = `${state} ${response}`;
    if (logged !== wanted) violations.push(`${program.id} is logged as ${logged}, not as ${wanted}`);
    const isDead = failed.delete(runId);
    if ((state === 'RUN_FAILED') !== isDead) violations.push(`${program.id} is ${state}: the DLQ disagrees`);
  }
  return [...violations, ...[...failed].map((runId) => `${runId} is in the DLQ`)];
}

/** Describes the logged runs with this id. */
async function loggedOf(runId: string, queue: QueueProcess): Promise<string> {
  const { json } = await queue.get(`/v2/workflows/logs?workflowRunId=${runId}`);
  const { runs } = json as { runs: { workflowState: string; workflowRunResponse?: string }[] };
  return runs.map(({ workflowState, workflowRunResponse }) => `${workflowState} ${workflowRunResponse}`).join();
}

function withChildren(run: ExpectedRun): ExpectedRun[] {
  return [run, ...run.children.flatMap((child) => withChildren(child.run))];
}
