/** The place of a run in its list and on its page: the present step, its attempt, timeout and next attempt. */
import { duration } from '../../parts/format.js';
import { Time } from '../../parts/time.js';
import type { Run } from './records.js';
import { type OpenAttempt, openAttemptOf, positionOf } from './run-now.js';

export interface StandingProps {
  readonly run: Run;
  readonly planTimeoutMs: number;
}

export function Standing({ run, planTimeoutMs }: StandingProps) {
  const { step, done, open } = positionOf(run);
  const steps = `${done} ${done === 1 ? 'step' : 'steps'} done`;
  if (step === '') return <span class="muted">{steps}</span>;
  const attempt = openAttemptOf(open, planTimeoutMs);
  return (
    <div class="wrap-anywhere" dir="auto">
      {step} <span class="small muted nowrap">{steps}</span>
      {attempt !== undefined && (
        <div class="small muted">
          <AttemptNow attempt={attempt} />
        </div>
      )}
    </div>
  );
}

/** "Attempt 2 of 4 in 30 s", or "Attempt 2 of 4 runs, with a timeout of 15 min". */
export function AttemptNow({ attempt }: { readonly attempt: OpenAttempt }) {
  const { number, most, timeoutMs, nextMs } = attempt;
  const name = `Attempt ${number} of ${most}`;
  const limit = `with a timeout of ${duration(timeoutMs)}`;
  if (nextMs === undefined) return <>{`${name} runs, ${limit}`}</>;
  return (
    <>
      {name} <Time at={nextMs} as="ago" />, {limit}
    </>
  );
}
