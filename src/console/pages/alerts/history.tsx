/** Alerts, open and ended, with the outcome of each notice. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { duration } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { Channel } from './channel.js';
import type { Alert } from './rule-words.js';

const EVERY_MS = 10_000;
const SHOWN = 200;

export function History() {
  const query = { count: SHOWN };
  const asked = useAsk('alert history', (signal) => manage('GET /v2/alerts/history', { query, signal }), EVERY_MS);
  return (
    <Shown asked={asked}>
      {(alerts) => (
        <Table
          label="History of alerts"
          rows={alerts}
          idOf={({ alert }) => String(alert)}
          columns={COLUMNS}
          empty={<Empty title="No alert was raised yet">Ended alerts stay here, the newest {SHOWN}.</Empty>}
        />
      )}
    </Shown>
  );
}

const COLUMNS: readonly Column<Alert>[] = [
  {
    title: 'State',
    cell: ({ resolved_at }) => (
      <Badge tone={resolved_at === 0 ? 'bad' : 'good'}>{resolved_at === 0 ? 'firing' : 'resolved'}</Badge>
    ),
  },
  { title: 'Raised', cell: ({ raised_at }) => <Time at={raised_at * 1_000} as="past" /> },
  {
    title: 'Lasted',
    isWideOnly: true,
    cell: ({ raised_at, resolved_at }) => (
      <span class="nowrap">{resolved_at === 0 ? '–' : duration((resolved_at - raised_at) * 1_000)}</span>
    ),
  },
  {
    title: 'Alert',
    cell: ({ name, text }) => (
      <span class="rule-name">
        <span class="wrap-anywhere" dir="auto">
          {text}
        </span>
        <span class="small muted wrap-anywhere" dir="auto">
          {name}
        </span>
      </span>
    ),
  },
  {
    title: 'Notices',
    cell: ({ notices }) =>
      notices.length === 0 ? <span class="small muted">none</span> : <Notices notices={notices} />,
  },
];

const TONES: Readonly<Record<string, Tone>> = { sent: 'good', failed: 'bad' };

function Notices({ notices }: Pick<Alert, 'notices'>) {
  return (
    <ul class="plain-list notices">
      {notices.map(({ phase, channel, state, answer }) => (
        <li key={`${phase} ${channel.type} ${channel.address}`}>
          <span class="small muted">{phase}</span>
          <Badge tone={TONES[state] ?? 'plain'}>{state}</Badge>
          {answer.startsWith('msg_') ? (
            <a href={`/console/messages/${answer}`}>
              <Channel channel={channel} />
            </a>
          ) : (
            <span title={answer}>
              <Channel channel={channel} />
            </span>
          )}
          {state === 'failed' && <span class="small wrap-anywhere">{answer}</span>}
        </li>
      ))}
    </ul>
  );
}
