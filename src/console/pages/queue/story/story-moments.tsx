/** The time line of a message: events, attempts with their answers, callbacks, the DLQ. */
import { StateBadge, type Tone } from '../../../parts/badge.js';
import { Body, Headers } from '../../../parts/exchange.js';
import { duration } from '../../../parts/format.js';
import { Time } from '../../../parts/time.js';
import type { Moment } from '../../../parts/timeline.js';
import type { Links } from '../links.js';
import type { Answer, Attempt, Story } from './story.js';

/** Attempts already show these events. */
const OF_ATTEMPTS = new Set(['ACTIVE', 'ERROR']);

const SAID: Readonly<Record<string, readonly [Tone, string]>> = {
  CREATED: ['info', 'Accepted'],
  RETRY: ['warn', 'Waits for its next attempt'],
  DELIVERED: ['good', 'Delivered'],
  FAILED: ['bad', 'Failed for good'],
  CANCEL_REQUESTED: ['plain', 'Cancellation requested'],
  CANCELED: ['plain', 'Cancelled'],
};

const OUTCOMES: Readonly<Record<string, Tone>> = { DELIVERED: 'good', ERROR: 'bad', INTERRUPTED: 'warn' };

export function momentsOf(story: Story, links: Links): readonly Moment[] {
  const events = story.events.filter(({ state }) => !OF_ATTEMPTS.has(state));
  const moments: Moment[] = [
    ...events.map((event, at): Moment => {
      const [tone, title] = SAID[event.state] ?? ['plain', event.state];
      const next = event.nextDeliveryTime;
      return {
        id: `event ${at}`,
        atMs: event.time,
        tone,
        title: <strong>{title}</strong>,
        details: next !== undefined && (
          <p class="small">
            It is due <Time at={next} />
          </p>
        ),
      };
    }),
    ...story.attempts.map(attemptMoment),
    ...story.callbacks.map(
      ({ messageId, kind, url, createdAt, state }): Moment => ({
        id: messageId,
        atMs: createdAt,
        tone: 'plain',
        title: (
          <>
            <strong>{kind === 'failureCallback' ? 'Failure callback' : 'Callback'}</strong>
            <StateBadge state={state} />
          </>
        ),
        details: (
          <a class="small wrap-anywhere" href={links.message(messageId)}>
            {url}
          </a>
        ),
      }),
    ),
    ...dlqMoment(story, links),
  ];
  // Items of the same instant keep the order above: acceptance first, the DLQ last.
  return moments.toSorted((a, b) => a.atMs - b.atMs || rank(a) - rank(b));
}

function rank({ id, tone }: Moment): number {
  if (id.startsWith('attempt')) return 1;
  return id.startsWith('event') && tone === 'info' ? 0 : 2;
}

function attemptMoment(attempt: Attempt, at: number): Moment {
  const { retried, startedAt, endedAt, outcome, responseStatus, error } = attempt;
  const took = endedAt === undefined ? undefined : duration(endedAt - startedAt);
  return {
    id: `attempt ${at}`,
    atMs: startedAt,
    tone: outcome === undefined ? 'info' : (OUTCOMES[outcome] ?? 'plain'),
    title: (
      <>
        <strong>{retried === 0 ? 'First attempt' : `Retry ${retried}`}</strong>
        <StateBadge state={outcome ?? 'DELIVERING'} />
        {responseStatus !== undefined && responseStatus !== 0 && <span class="mono">{responseStatus}</span>}
        {took !== undefined && <span class="small muted">took {took}</span>}
      </>
    ),
    details: (
      <>
        {error !== undefined && (
          <p class="small wrap-anywhere" dir="auto">
            {error}
          </p>
        )}
        {hasAnswer(attempt) && <AnswerDetails answer={attempt} />}
      </>
    ),
  };
}

function dlqMoment({ dlq }: Story, links: Links): readonly Moment[] {
  if (dlq === undefined) return [];
  const title = <strong>Put into the dead letters</strong>;
  const details = (
    <a class="small mono" href={links.deadLetters({ entry: dlq.dlqId })}>
      {dlq.dlqId}
    </a>
  );
  return [{ id: 'dlq', atMs: dlq.failedAt, tone: 'bad', title, details }];
}

export function hasAnswer({ responseHeader, responseBody, responseBodyBase64 }: Answer): boolean {
  return Object.keys(responseHeader ?? {}).length > 0 || responseBody !== undefined || responseBodyBase64 !== undefined;
}

function AnswerDetails({ answer }: { readonly answer: Answer }) {
  return (
    <details>
      <summary class="small">The answer</summary>
      <div class="stack tight">
        <Headers header={answer.responseHeader} />
        <Body text={answer.responseBody} base64={answer.responseBodyBase64} />
      </div>
    </details>
  );
}
