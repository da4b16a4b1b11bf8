/** For what an attempt's answer, and what was sent, are needed once it has been made. */
import type { StartedAttempt } from './queue-slot.js';

/** Its callback tells of what was sent. A run's failure is told with the run's payload instead. */
export function tellsOfSent(attempt: StartedAttempt): boolean {
  return attempt.run === undefined ? hasCallback(attempt) : attempt.run.part.role === 'call';
}

/** Its callback tells of the whole answer. So is a run's failure function told of the one that failed the run. */
export function tellsOfAnswer(attempt: StartedAttempt): boolean {
  return attempt.run !== undefined || hasCallback(attempt);
}

function hasCallback({ envelope }: StartedAttempt): boolean {
  const { callback, failureCallback } = envelope.settings;
  return callback !== undefined || failureCallback !== undefined;
}
