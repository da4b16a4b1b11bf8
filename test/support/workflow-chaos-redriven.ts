/**
 * Compares resumed and restarted runs, after all failures have been repaired, with the model of the repaired program.
 * Runs that were not resumed or restarted must have no further effects.
 */
import type { WorkflowLedger } from './workflow-ledger.js';
import { type Effect, expectedOf } from './workflow-model.js';
import { type Program, withoutFailures } from './workflow-programs.js';

/** The new runs, by the id of the failed run. */
export interface Redriven {
  readonly resumed: ReadonlyMap<string, string>;
  readonly restarted: ReadonlyMap<string, string>;
}

/** @param program a failed program. @returns one line for each violation */
export function judgeRedriven(program: Program, { resumed, restarted }: Redriven, ledger: WorkflowLedger): string[] {
  const { id } = program;
  const old = `wfr_${id}`;
  const runId = resumed.get(old) ?? restarted.get(old);
  if (runId === undefined || runId === old) return [`${id} was not begun again`];
  const violations: string[] = [];
  const runIds = [...(ledger.runIds.get(id) ?? [])];
  if (runIds.join() !== [old, runId].join()) violations.push(`${id} has the runs ${runIds}`);
  const { state, result, stages } = expectedOf(withoutFailures(program));
  const results = [...(ledger.results.get(id) ?? [])];
  const wanted = state === 'RUN_SUCCESS' ? [JSON.stringify(result)] : [];
  if (results.join() !== wanted.join()) violations.push(`${id} returned ${results} instead of ${wanted}`);
  // The last stage that was reached is the one that failed.
  const failedAt = expectedOf(program).stages.length - 1;
  const failing = expectedOf(program).stages[failedAt]?.find(({ isOptional }) => !isOptional)?.name;
  const executions = ledger.executions.filter((execution) => execution.runId === runId);
  for (const [at, stage] of stages.entries()) {
    for (const { name, saw, times } of stage) {
      const own = executions.filter((execution) => execution.name === name);
      if (own.some((execution) => execution.saw !== saw))
        violations.push(`${id}: ${name} saw ${own.map((each) => each.saw)}`);
      const may = resumed.has(old) ? executionsAfterResume(at - failedAt, name === failing, times) : [times];
      if (!may.includes(own.length)) violations.push(`${id}: ${name} was executed ${own.length} times, not ${may}`);
    }
  }
  const known = new Set(stages.flat().map(({ name }: Effect) => name));
  for (const { name } of executions) if (!known.has(name)) violations.push(`${id}: ${name} is out of reach`);
  return violations;
}

/** @param after the number of stages between this one and the failed one */
function executionsAfterResume(after: number, isFailing: boolean, times: number): readonly number[] {
  if (after < 0) return [0];
  if (after > 0 || isFailing) return [times];
  // A step parallel to the failed one: its result was stored, or it runs again.
  return [0, times];
}
