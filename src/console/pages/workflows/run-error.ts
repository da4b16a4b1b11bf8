/** The error of a run in one line, for lists. */
import type { FailedRun, NextStep, Run, Step } from './records.js';

export interface RunError {
  /** 0: no answer. */
  readonly status: number;
  readonly text: string;
}

/** Of a failed run the error that ended it; of an open one the last failed attempt of its present step. */
export function errorOf(run: Run): RunError | undefined {
  const { failureFunction: told } = run;
  const steps: readonly (Step | NextStep)[] = run.steps.flatMap((group): readonly (Step | NextStep)[] => group.steps);
  const failed = steps.findLast(({ errors = [] }) => errors.length > 0)?.errors?.at(-1);
  if (told !== undefined && run.workflowState === 'RUN_FAILED') {
    return { status: told.failStatus, text: messageIn(told.failResponse) ?? failed?.error ?? '' };
  }
  if (failed === undefined || run.workflowState === 'RUN_SUCCESS') return undefined;
  return { status: failed.status, text: messageIn(failed.body) ?? failed.error };
}

/** The message of an error, if it can be found. */
export function whyOf({ responseBody, error = '' }: FailedRun): string {
  return messageIn(responseBody) ?? error;
}

/** A body may be cut, so it is not parsed. */
function messageIn(body: string | undefined): string | undefined {
  if (body === undefined || body === '') return undefined;
  const said = /"message":"((?:[^"\\]|\\.)*)/.exec(body)?.[1];
  return said === undefined ? body : said.replaceAll('\\"', '"').replaceAll('\\n', ' ');
}
