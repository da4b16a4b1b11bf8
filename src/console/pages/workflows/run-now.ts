/** The current activity of a run in a few words. */
import { duration } from '../../parts/format.js';
import type { NextStep, Run, Step } from './records.js';

/** The step at which the run stands, and the number of finished steps. */
export interface RunPosition {
  /** Empty: the run is over. */
  readonly step: string;
  readonly done: number;
  readonly open: Step | NextStep | undefined;
}

export function positionOf(run: Run): RunPosition {
  const done = run.steps.reduce((sum, group) => sum + group.steps.filter(isDone).length, 0);
  const last = run.steps.at(-1);
  if (run.workflowState !== 'RUN_STARTED' || last === undefined) return { step: '', done, open: undefined };
  if (last.type === 'next') {
    const [next] = last.steps;
    const before = run.steps.at(-2)?.steps.at(-1);
    const after = before === undefined || !('stepId' in before) ? 'first step' : `step after ${before.stepName}`;
    return { step: next?.stepName ?? after, done, open: next };
  }
  const open = last.steps.filter((step) => !isDone(step));
  const [first] = open;
  if (first === undefined) return { step: '', done, open: undefined };
  const more = open.length > 1 ? `, and ${open.length - 1} more` : '';
  return { step: `${doingOf(first)}${more}`, done, open: first };
}

function isDone({ state }: { readonly state: string }): boolean {
  return state === 'STEP_SUCCESS';
}

function doingOf(step: Step): string {
  switch (step.stepType) {
    case 'Wait':
    case 'WaitForWebhook':
      return `waits for ${step.waitEventId ?? 'an event'}`;
    case 'SleepFor':
      return `sleeps ${step.sleepFor === undefined ? '' : duration(step.sleepFor)}`.trim();
    case 'SleepUntil':
      return 'sleeps';
    case 'Call':
      return `calls ${step.callUrl ?? 'a service'}`;
    case 'Invoke':
      return `runs ${step.invokedWorkflowRunId ?? 'another workflow'}`;
    default:
      return step.stepName;
  }
}

/** The end of a sleep, or the deadline of a wait, in milliseconds. */
export function untilOf(step: Step): number | undefined {
  if (step.stepType === 'SleepFor' && step.sleepFor !== undefined) return step.createdAt + step.sleepFor;
  // Clients use several time formats; the page shows a moment.
  if (step.sleepUntil !== undefined) return step.sleepUntil;
  return step.waitTimeoutDeadline;
}

/** The attempt of an open step that is running or comes next. */
export interface OpenAttempt {
  /** From 1. */
  readonly number: number;
  readonly most: number;
  readonly timeoutMs: number;
  /** Undefined: it is running. */
  readonly nextMs: number | undefined;
}

/**
 * @param planTimeoutMs  the longest duration of an attempt in the account's plan
 * @returns undefined for a step that waits without an attempt, such as a sleep
 */
export function openAttemptOf(step: Step | NextStep | undefined, planTimeoutMs: number): OpenAttempt | undefined {
  if (step === undefined || (step.state !== 'STEP_PROGRESS' && step.state !== 'STEP_RETRY')) return undefined;
  if ('stepType' in step && /^(Sleep|Wait|Invoke)/.test(step.stepType)) return undefined;
  const { errors = [], retries, timeout = planTimeoutMs, nextDeliveryTime } = step;
  return {
    number: errors.length + 1,
    most: retries + 1,
    timeoutMs: Math.min(timeout, planTimeoutMs),
    nextMs: nextDeliveryTime,
  };
}
