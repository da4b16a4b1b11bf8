/** The queue: messages, and the objects that control their delivery. */
import type { JSX } from 'preact';
import { useQueue } from '../../api/queues.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { Tabs, useTab } from '../../parts/tabs.js';
import { ApplicationsTab } from './applications-tab.js';
import { DestinationsTab } from './destinations-tab.js';
import { FlowTab } from './flow-tab.js';
import { GroupsTab } from './groups-tab.js';
import { KeysTab } from './keys-tab.js';
import { MessagesTab } from './messages/messages-tab.js';
import { PublishTab } from './publish/publish-tab.js';
import { QueueChoice } from './queue-choice.js';
import { QueuesTab } from './queues-tab.js';
import { SchedulesTab } from './schedules/schedules-tab.js';
import type { TabProps } from './tab.js';
import { TriggersTab } from './triggers/triggers-tab.js';

interface Part {
  readonly id: string;
  readonly label: string;
  readonly Shown: (props: TabProps) => JSX.Element;
  readonly isChange?: boolean;
}

const PARTS: readonly Part[] = [
  { id: 'messages', label: 'Messages', Shown: MessagesTab },
  { id: 'publish', label: 'Publish', Shown: PublishTab, isChange: true },
  { id: 'queues', label: 'Queues', Shown: QueuesTab },
  { id: 'groups', label: 'URL groups', Shown: GroupsTab },
  { id: 'schedules', label: 'Schedules', Shown: SchedulesTab },
  { id: 'triggers', label: 'Triggers', Shown: TriggersTab },
  { id: 'applications', label: 'Applications', Shown: ApplicationsTab },
  { id: 'flow', label: 'Flow control', Shown: FlowTab },
  { id: 'destinations', label: 'Destinations', Shown: DestinationsTab },
  { id: 'keys', label: 'Signing keys', Shown: KeysTab, isChange: true },
];

export default function Queue() {
  const parts = PARTS.filter(({ isChange }) => mayChangeQueues.value || isChange !== true);
  const tab = useTab(parts);
  const asked = useQueue();
  const part = parts.find(({ id }) => id === tab);
  return (
    <>
      <PageHead title="Queue" badge={asked.data?.shown.state === 'passive' && <Badge tone="bad">suspended</Badge>}>
        {asked.data !== undefined && <QueueChoice {...asked.data} />}
      </PageHead>
      <Tabs label="Parts of the queue" tabs={parts} />
      <Shown asked={asked} rows={8}>
        {({ shown }) => (part === undefined ? null : <part.Shown key={shown.id} account={shown.id} />)}
      </Shown>
    </>
  );
}
