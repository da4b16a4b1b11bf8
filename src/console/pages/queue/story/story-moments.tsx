/** The time line of a message: events, attempts, callbacks, the DLQ. */
import { StateBadge, type Tone, toneOf } from '../../../parts/badge.js';
import { Time } from '../../../parts/time.js';
import type { Moment } from '../../../parts/timeline.js';
import type { Links } from '../links.js';
import { AttemptHead } from './attempts.js';
import type { Attempt, Story } from './story.js';

/** Attempts already show these events. */
const OF_ATTEMPTS = new Set(['ACTIVE', 'ERROR']);

const SAID: Readonly<Record<string, readonly [Tone, string]>> = {
  CREATED: ['plain', 'Accepted'],
  RETRY: ['warn', 'Waits for its next attempt'],
  DELIVERED: ['good', 'Delivered'],
  FAILED: ['bad', 'Failed for good'],
  CANCEL_REQUESTED: ['plain', 'Cancellation requested'],
  CANCELED: ['plain', 'Cancelled'],
};

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

function rank({ id }: Moment): number {
  if (id.startsWith('attempt')) return 1;
  return id === 'event 0' ? 0 : 2;
}

function attemptMoment(attempt: Attempt, at: number): Moment {
  const { startedAt, outcome, error } = attempt;
  return {
    id: `attempt ${at}`,
    atMs: startedAt,
    tone: toneOf(outcome ?? 'DELIVERING'),
    title: <AttemptHead attempt={attempt} />,
    details: error !== undefined && (
      <p class="small wrap-anywhere" dir="auto">
        {error}
      </p>
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
