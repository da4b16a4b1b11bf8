/** The current activity of a run in a few words. */
import { duration } from '../../parts/format.js';
import type { Run, Step } from './records.js';

/** The number of finished steps, and the current one. */
export function nowOf(run: Run): string {
  const done = run.steps.reduce((sum, group) => sum + group.steps.filter(isDone).length, 0);
  const steps = `${done} ${done === 1 ? 'step' : 'steps'} done`;
  if (run.workflowState !== 'RUN_STARTED') return steps;
  const last = run.steps.at(-1);
  if (last === undefined) return steps;
  if (last.type !== 'next') {
    const open = last.steps.filter((step) => !isDone(step));
    const [first] = open;
    if (first === undefined) return steps;
    return `${doingOf(first)}${open.length > 1 ? `, and ${open.length - 1} more` : ''} · ${steps}`;
  }
  const [next] = last.steps;
  if (next?.state === 'STEP_RETRY') return `tries ${next.stepName ?? 'its next step'} again · ${steps}`;
  return `${next?.nextDeliveryTime === undefined ? 'at its next step' : 'begins later'} · ${steps}`;
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
      return `at ${step.stepName}`;
  }
}

/** The end of a sleep, or the deadline of a wait, in milliseconds. */
export function untilOf(step: Step): number | undefined {
  if (step.stepType === 'SleepFor' && step.sleepFor !== undefined) return step.createdAt + step.sleepFor;
  // Clients use several time formats; the page shows a moment.
  if (step.sleepUntil !== undefined) return step.sleepUntil;
  return step.waitTimeoutDeadline;
}
