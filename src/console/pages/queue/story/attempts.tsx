/** Each attempt of a message as request and answer, the newest first. */
import { StateBadge } from '../../../parts/badge.js';
import { Body, Headers } from '../../../parts/exchange.js';
import { duration } from '../../../parts/format.js';
import { Time } from '../../../parts/time.js';
import type { Attempt, Story } from './story.js';

export function Attempts({ story }: { readonly story: Story }) {
  return (
    <section class="card stack tight" aria-label="Attempts">
      <h2>Attempts</h2>
      {story.attempts.toReversed().map((attempt, at) => (
        <details key={`${attempt.retried} ${attempt.startedAt}`} class="attempt" open={at === 0}>
          <summary>
            <AttemptHead attempt={attempt} />
          </summary>
          <div class="grid wide">
            <section class="stack tight" aria-label={`Request of ${nameOf(attempt).toLowerCase()}`}>
              <h3>Request</h3>
              <p class="mono small wrap-anywhere">
                {story.message.method} {story.message.url}
              </p>
              <Headers header={story.message.header} />
              <Body text={story.message.body} base64={story.message.bodyBase64} />
            </section>
            <section class="stack tight" aria-label={`Answer to ${nameOf(attempt).toLowerCase()}`}>
              <h3>
                Answer <Status attempt={attempt} />
              </h3>
              <Answer attempt={attempt} />
            </section>
          </div>
        </details>
      ))}
    </section>
  );
}

/** Name, outcome, status, duration. */
export function AttemptHead({ attempt }: { readonly attempt: Attempt }) {
  return (
    <>
      <strong>{nameOf(attempt)}</strong> <StateBadge state={attempt.outcome ?? 'DELIVERING'} />{' '}
      <Status attempt={attempt} /> <Took attempt={attempt} />
    </>
  );
}

function nameOf({ retried }: Attempt): string {
  return retried === 0 ? 'First attempt' : `Retry ${retried}`;
}

function Status({ attempt: { outcome, responseStatus } }: { readonly attempt: Attempt }) {
  if (responseStatus === undefined || responseStatus === 0) return null;
  return <span class={`mono ${outcome === 'DELIVERED' ? 'is-good' : 'is-bad'}`}>{responseStatus}</span>;
}

function Took({ attempt: { duration: measured, startedAt, endedAt } }: { readonly attempt: Attempt }) {
  const took = measured ?? (endedAt === undefined ? undefined : endedAt - startedAt);
  return took === undefined ? null : <span class="small muted">took {duration(took)}</span>;
}

function Answer({ attempt }: { readonly attempt: Attempt }) {
  const { outcome, responseStatus, responseHeader, responseBody, responseBodyBase64, error, nextDeliveryTime } =
    attempt;
  return (
    <>
      {error !== undefined && (
        <p class="wrap-anywhere" dir="auto">
          {error}
        </p>
      )}
      {responseStatus === undefined || responseStatus === 0 ? (
        <p class="muted small">{WITHOUT[outcome ?? ''] ?? 'The destination did not answer.'}</p>
      ) : (
        <>
          <Headers header={responseHeader} />
          <Body text={responseBody} base64={responseBodyBase64} />
          {attempt.responseBodyTruncated === true && (
            <p class="muted small">The answer is longer; its beginning is kept.</p>
          )}
        </>
      )}
      {nextDeliveryTime !== undefined && (
        <p class="small">
          Next attempt <Time at={nextDeliveryTime} as="ago" />
        </p>
      )}
    </>
  );
}

/** The reason why no answer is shown, by outcome. */
const WITHOUT: Readonly<Record<string, string>> = {
  '': 'The destination has not answered yet.',
  DELIVERED: 'The answer is no longer kept.',
  INTERRUPTED: 'The process ended before the answer; the attempt was repeated.',
};
