/** The columns of the list of dead letters. */
import { usePageQuery } from '../../api/query.js';
import { Badge } from '../../parts/badge.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useLinks } from '../queue/links.js';
import { type DeadLetter, failedAtOf } from './dlq.js';
import { statusText } from './status-counts.js';

export function useEntryColumns(): readonly Column<DeadLetter>[] {
  const links = useLinks();
  const [query] = usePageQuery();
  return [
    {
      title: 'Message',
      cell: ({ dlqId, messageId, method, url }) => (
        <a class="message-name" href={links.deadLetters({ ...query, entry: dlqId })}>
          <span class="place" dir="auto" title={url}>
            {method} {url.replace(/^https?:\/\//, '')}
          </span>
          <span class="small muted mono cut">{messageId}</span>
        </a>
      ),
    },
    {
      title: 'Status',
      cell: (entry) => (
        <span class="row">
          <Badge tone="bad">{statusText(entry.responseStatus)}</Badge>
          <span class="narrow-only small muted">
            <Time at={failedAtOf(entry)} as="past" />
          </span>
        </span>
      ),
    },
    {
      title: 'Error',
      isWideOnly: true,
      cell: ({ error }) => (
        <span class="wrap-anywhere" dir="auto">
          {error ?? '–'}
        </span>
      ),
    },
    {
      title: 'Labels',
      isWideOnly: true,
      cell: ({ labels = [] }) => (
        <span class="belongs">
          {labels.map((label) => (
            <a key={label} class="badge" dir="auto" href={links.deadLetters({ label })}>
              <span class="cut">{label}</span>
            </a>
          ))}
        </span>
      ),
    },
    { title: 'Failed', isWideOnly: true, cell: (entry) => <Time at={failedAtOf(entry)} as="past" /> },
  ];
}
