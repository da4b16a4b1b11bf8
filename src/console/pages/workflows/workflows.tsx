/** Runs of workflows: the list, waiting steps, failed runs, checking a new version, and starting a run. */
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { useQueue } from '../../api/queues.js';
import { mayChangeQueues } from '../../api/session.js';
import { Icon } from '../../parts/icon.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { type Tab, Tabs, useTab } from '../../parts/tabs.js';
import { QueueChoice } from '../queue/queue-choice.js';
import { CheckForm } from './check-form.js';
import { FailedRuns } from './failed-runs.js';
import { useRunLinks } from './links.js';
import { useNews } from './records.js';
import { RunList, type RunListProps } from './run-list.js';
import { TriggerForm } from './trigger-form.js';
import { Waiters } from './waiters.js';

const EVERY_MS = 10_000;

export default function Workflows() {
  const queue = useQueue();
  const links = useRunLinks();
  return (
    <>
      <PageHead title="Workflows">
        {queue.data !== undefined && <QueueChoice {...queue.data} />}
        {mayChangeQueues.value && (
          <a class="button primary" href={links.list({ tab: 'start' })}>
            <Icon name="plus" />
            Start a run
          </a>
        )}
      </PageHead>
      <Shown asked={queue}>{({ shown }) => <OfQueue account={shown.id} planTimeoutMs={shown.timeout * 1_000} />}</Shown>
    </>
  );
}

function OfQueue({ account, planTimeoutMs }: RunListProps) {
  const counted = useAsk(
    `waiting ${account}`,
    (signal) => ofQueue(account, 'GET /v2/waiters', { query: { count: 1 }, signal }),
    EVERY_MS,
  );
  const failed = useAsk(`failed runs ${account}`, () => ofQueue(account, 'GET /v2/workflows/dlq/counts'), EVERY_MS);
  useNews(account, () => {
    counted.reload();
    failed.reload();
  });
  const tabs: Tab[] = [
    { id: 'runs', label: 'Runs' },
    { id: 'waiting', label: 'Waiting for events', count: counted.data?.total },
    { id: 'failed', label: 'Failed runs', count: failed.data?.total },
    ...(mayChangeQueues.value
      ? [
          { id: 'check', label: 'Check a version' },
          { id: 'start', label: 'Start a run' },
        ]
      : []),
  ];
  const tab = useTab(tabs);
  return (
    <>
      <Tabs label="Workflows" tabs={tabs} />
      {tab === 'runs' && <RunList account={account} planTimeoutMs={planTimeoutMs} />}
      {tab === 'waiting' && <Waiters account={account} />}
      {tab === 'failed' && <FailedRuns account={account} />}
      {tab === 'check' && <CheckForm account={account} />}
      {tab === 'start' && <TriggerForm account={account} />}
    </>
  );
}
