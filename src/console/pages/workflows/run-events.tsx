/** All events of a run in order. */
import { Badge, StateBadge, toneOf } from '../../parts/badge.js';
import { Code, pretty } from '../../parts/code.js';
import { Time } from '../../parts/time.js';
import { type Moment, Timeline } from '../../parts/timeline.js';
import type { RunEvent } from './records.js';

export function RunEvents({ events, areMore }: { readonly events: readonly RunEvent[]; readonly areMore: boolean }) {
  return (
    <div class="card">
      <Timeline moments={events.map(momentOf)} />
      {areMore && <p class="small muted">These are the first {events.length}; later steps are not drawn here.</p>}
    </div>
  );
}

function momentOf(event: RunEvent, at: number): Moment {
  const { time, state, stepInfo, error, nextDeliveryTime, responseStatus, responseBody } = event;
  return {
    id: String(at),
    atMs: time,
    tone: toneOf(state),
    title: (
      <>
        <StateBadge state={state} />
        {stepInfo !== undefined && <strong dir="auto">{stepInfo.stepName}</strong>}
        {stepInfo !== undefined && stepInfo.callType !== 'step' && <Badge>{CALL_WORDS[stepInfo.callType]}</Badge>}
      </>
    ),
    details: (
      <div class="small stack tight">
        {error !== undefined && (
          <span class="wrap-anywhere" dir="auto">
            {error}
          </span>
        )}
        {nextDeliveryTime !== undefined && (
          <span class="muted">
            next delivery <Time at={nextDeliveryTime} as="ago" />
          </span>
        )}
        {responseBody !== undefined && responseBody !== '' && (
          <details>
            <summary>The answer{responseStatus === undefined ? '' : `, ${responseStatus}`}</summary>
            <Code text={pretty(responseBody)} />
          </details>
        )}
      </div>
    ),
  };
}

const CALL_WORDS: Readonly<Record<string, string>> = {
  toCallback: 'call to another service',
  fromCallback: 'its answer',
  failureCall: 'failure function',
};
