/** Attempts of a message as dots: made ones in the colour of their outcome, possible retries as rings. */
import { counted } from '../../../parts/format.js';
import type { MessageDetails } from './message-details.js';

/** More are written as numbers. */
const MAX_DOTS = 6;

export function AttemptDots({ details }: { readonly details: MessageDetails | undefined }) {
  if (details === undefined) return <span class="muted">–</span>;
  const { attempts, maxRetries } = details;
  const isOver = attempts.at(-1) === 'delivered' || attempts.at(-1) === 'cancelled';
  const possible = Math.max(maxRetries + 1, attempts.length);
  const shown = isOver ? attempts.length : possible;
  const text = `${counted(attempts.length, 'attempt')} of ${possible} at most`;
  const last = attempts.at(-1);
  if (shown > MAX_DOTS) {
    return (
      <span class="attempt-dots" role="img" aria-label={text} title={text}>
        <i class={last ?? ''} /> {attempts.length}/{possible}
      </span>
    );
  }
  return (
    <span class="attempt-dots" role="img" aria-label={text} title={text}>
      {Array.from({ length: shown }, (_, at) => (
        <i key={at} class={attempts[at] ?? ''} />
      ))}
      {shown === 0 && '–'}
    </span>
  );
}
