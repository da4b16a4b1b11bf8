/** The columns of the list of messages. */
import { StateBadge } from '../../../parts/badge.js';
import { counted, duration } from '../../../parts/format.js';
import type { Column } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import type { MessageDetails } from './message-details.js';
import type { MessageRow, StateId } from './message-rows.js';

/** More are written as numbers. */
const MAX_DOTS = 6;

/** Attempts of a message as dots: made ones in the colour of their outcome, possible retries as rings. */
function AttemptDots({ details }: { readonly details: MessageDetails | undefined }) {
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

/** Omitted, because destinations differ after it. */
const SCHEME = /^https?:\/\//;
const WHEN: Partial<Record<StateId, string>> = {
  all: 'Changed',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
const ENDED: ReadonlySet<StateId> = new Set(['delivered', 'failed', 'cancelled']);

/** @param hrefOf the address that shows a message; by default its page */
export function useMessageColumns(state: StateId, hrefOf?: (id: string) => string): readonly Column<MessageRow>[] {
  const links = useLinks();
  const shown = hrefOf ?? links.message;
  return [
    {
      title: 'State',
      cell: (row) => (
        <span class="message-state">
          <State row={row} />
          <span class="narrow-only small muted">
            <AttemptDots details={row.details} />
            <div class="nowrap">
              <Time at={row.atMs} as="past" />
            </div>
          </span>
        </span>
      ),
    },
    {
      title: 'Message',
      cell: (row) => (
        <a class="message-name" href={shown(row.id)} title={`${row.id}\n${row.url}`}>
          <span class="place" dir="auto">
            {row.method} {row.url.replace(SCHEME, '')}
          </span>
          <span class="small muted mono cut" dir="auto">
            {row.details?.body ?? 'no body'}
          </span>
        </a>
      ),
    },
    { title: 'Attempts', isWideOnly: true, cell: ({ details }) => <AttemptDots details={details} /> },
    {
      title: 'Took',
      isWideOnly: true,
      isNumber: true,
      cell: ({ details }) =>
        details?.tookMs === undefined ? (
          <span class="muted">–</span>
        ) : (
          <span class="nowrap">{duration(details.tookMs)}</span>
        ),
    },
    ...(ENDED.has(state) ? [] : [{ title: 'Next try', isWideOnly: true, cell: nextCell }]),
    { title: 'Belongs to', isWideOnly: true, cell: (row) => <Belongs row={row} /> },
    { title: WHEN[state] ?? 'Accepted', isWideOnly: true, cell: ({ atMs }) => <Time at={atMs} as="past" /> },
  ];
}

function nextCell(row: MessageRow) {
  return (
    <span class="nowrap">
      <Time at={nextOf(row)} as="ago" />
    </span>
  );
}

const WAITS: ReadonlySet<string> = new Set(['SCHEDULED', 'WAITING', 'RETRYING']);

/** A message that is over has no next attempt, and one that is being delivered has none yet. */
function nextOf({ state, nextMs }: MessageRow): number | undefined {
  return WAITS.has(state) ? nextMs : undefined;
}

function State({ row: { state, status } }: { readonly row: MessageRow }) {
  return (
    <span class="row nowrap">
      <StateBadge state={state} />
      {status !== undefined && state !== 'DELIVERED' && (
        <span class="small mono nowrap">{status === 0 ? 'no answer' : status}</span>
      )}
    </span>
  );
}

/** Each label links to all messages with the same one. */
function Belongs({ row }: { readonly row: MessageRow }) {
  const links = useLinks();
  const { labels, queueName, topicName, scheduleId, flowControlKey, priority } = row;
  const all = [
    ...labels.map((label) => ['label', label, label] as const),
    ['queueName', queueName, `queue ${queueName}`],
    ['topicName', topicName, `group ${topicName}`],
    ['scheduleId', scheduleId, `schedule ${scheduleId}`],
    ['flowControlKey', flowControlKey, `key ${flowControlKey}`],
    ['priority', priority, `${priority} priority`],
  ] as const;
  return (
    <span class="belongs">
      {all.map(
        ([word, value, text]) =>
          value !== undefined && (
            <a key={`${word} ${value}`} class="badge" dir="auto" title={text} href={links.queue({ [word]: value })}>
              <span class="cut">{text}</span>
            </a>
          ),
      )}
    </span>
  );
}
