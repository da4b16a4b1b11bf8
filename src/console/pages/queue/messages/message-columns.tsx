/** The columns of the list of messages. */
import { StateBadge } from '../../../parts/badge.js';
import type { Column } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import type { MessageRow, StateId } from './message-rows.js';

/** Omitted, because destinations differ after it. */
const SCHEME = /^https?:\/\//;
const WHEN: Partial<Record<StateId, string>> = {
  all: 'Changed',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function useMessageColumns(state: StateId): readonly Column<MessageRow>[] {
  const links = useLinks();
  const hasNext = state === 'scheduled' || state === 'retrying';
  return [
    {
      title: 'Message',
      cell: ({ id, url, method }) => (
        <a class="message-name" href={links.message(id)}>
          <span class="place" dir="auto" title={url}>
            {method} {url.replace(SCHEME, '')}
          </span>
          <span class="small muted mono cut">{id}</span>
        </a>
      ),
    },
    {
      title: 'State',
      cell: ({ state: is, status, atMs }) => (
        <span class="row">
          <StateBadge state={is} />
          {status !== undefined && is !== 'DELIVERED' && (
            <span class="small mono">{status === 0 ? 'no answer' : status}</span>
          )}
          <span class="narrow-only small muted">
            <Time at={atMs} as="past" />
          </span>
        </span>
      ),
    },
    { title: 'Belongs to', isWideOnly: true, cell: (row) => <Belongs row={row} /> },
    { title: WHEN[state] ?? 'Accepted', isWideOnly: true, cell: ({ atMs }) => <Time at={atMs} as="past" /> },
    ...(hasNext ? [{ title: 'Next attempt', cell: ({ nextMs }: MessageRow) => <Time at={nextMs} as="ago" /> }] : []),
  ];
}

/** Each label links to all messages with the same one. */
function Belongs({ row }: { readonly row: MessageRow }) {
  const links = useLinks();
  const { labels, queueName, topicName, scheduleId, flowControlKey } = row;
  const all = [
    ...labels.map((label) => ['label', label, label] as const),
    ['queueName', queueName, `queue ${queueName}`],
    ['topicName', topicName, `group ${topicName}`],
    ['scheduleId', scheduleId, `schedule ${scheduleId}`],
    ['flowControlKey', flowControlKey, `key ${flowControlKey}`],
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
