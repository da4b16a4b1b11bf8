/** Queues: parallelism, waiting messages, pause and resume. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { asked as askedFirst, Dialog } from '../../parts/dialog.js';
import { SubmitRow, TextField } from '../../parts/field.js';
import { whole } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { RowMenu } from '../../parts/row-menu.js';
import { useSeen } from '../../parts/seen.js';
import { Sparkline } from '../../parts/sparkline.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { useLinks } from './links.js';
import { NothingYet } from './nothing-yet.js';
import type { TabProps } from './tab.js';

type Queue = Schemas['Queue'];
const EVERY_MS = 5_000;
/** A point of the backlog's line is a minute. */
const BACKLOG_EVERY_MS = 60_000;

export function QueuesTab({ account }: TabProps) {
  const asked = useAsk(account, () => ofQueue(account, 'GET /v2/queues'), EVERY_MS);
  const edited = useSignal<Queue | 'new' | undefined>(undefined);
  const columns = useColumns(account, asked.reload, (queue) => {
    edited.value = queue;
  });
  const isNew = () => {
    edited.value = 'new';
  };
  return (
    <>
      {mayChangeQueues.value && (
        <div class="row list-head">
          <Button onClick={isNew}>
            <Icon name="plus" />
            New queue
          </Button>
        </div>
      )}
      <Shown asked={asked}>
        {(queues) => (
          <Table
            label="Queues"
            columns={columns}
            rows={queues}
            idOf={({ name }) => name}
            empty={
              <NothingYet title="There are no queues" call={`/v2/queues -d '{"queueName":"letters","parallelism":1}'`}>
                A queue delivers its messages one after the other.
              </NothingYet>
            }
          />
        )}
      </Shown>
      {edited.value !== undefined && (
        <EditQueue
          account={account}
          queue={edited.value === 'new' ? undefined : edited.value}
          onClose={() => {
            edited.value = undefined;
            asked.reload();
          }}
        />
      )}
    </>
  );
}

function useColumns(account: string, onDone: () => void, onEdit: (queue: Queue) => void): readonly Column<Queue>[] {
  const links = useLinks();
  return [
    {
      title: 'Queue',
      cell: ({ name, paused }) => (
        <span class="row">
          <a href={links.queue({ queueName: name })} dir="auto">
            {name}
          </a>
          {paused && <Badge>paused</Badge>}
        </span>
      ),
    },
    { title: 'Lag', isNumber: true, cell: ({ lag }) => whole(lag) },
    { title: 'Oldest waits', cell: (queue) => <OldestWaiting account={account} queue={queue} /> },
    { title: 'Parallelism', isNumber: true, cell: ({ parallelism }) => whole(parallelism) },
    { title: 'Changed', isWideOnly: true, cell: ({ updatedAt }) => <Time at={updatedAt} as="past" /> },
    ...(mayChangeQueues.value
      ? [
          {
            title: 'Actions',
            cell: (queue: Queue) => <QueueActions {...{ account, queue, onDone }} onEdit={() => onEdit(queue)} />,
          },
        ]
      : []),
  ];
}

/** The age of the backlog (of the first message that is not delivered yet), now and in the last hour. */
function OldestWaiting({ account, queue: { name, lag } }: Pick<ActionProps, 'account' | 'queue'>) {
  const [box, isSeen] = useSeen<HTMLSpanElement>();
  const query = { queueName: name, order: 'earliestFirst', count: 1 };
  const asked = useAsk(
    isSeen && lag > 0 ? `oldest ${account} ${name}` : undefined,
    (signal) => ofQueue(account, 'GET /v2/messages', { query, signal }),
    EVERY_MS,
  );
  const ages = useAsk(
    isSeen ? `backlog ${account} ${name}` : undefined,
    (signal) => ofQueue(account, 'GET /v2/queues/{name}/backlog', { path: { name }, signal }),
    BACKLOG_EVERY_MS,
  );
  return (
    <span ref={box} class="row nowrap backlog-age">
      <Sparkline values={ages.data?.points.map(({ y }) => y) ?? []} />
      <Time at={lag > 0 ? asked.data?.messages[0]?.createdAt : undefined} as="past" />
    </span>
  );
}

interface ActionProps {
  readonly account: string;
  readonly queue: Queue;
  onEdit(): void;
  onDone(): void;
}

function QueueActions({ account, queue: { name, paused, lag }, onEdit, onDone }: ActionProps) {
  const path = { name };
  const pause = () =>
    paused
      ? doing(() => ofQueue(account, 'POST /v2/queues/{name}/resume', { path }), `${name} is resumed.`)
      : doing(() => ofQueue(account, 'POST /v2/queues/{name}/pause', { path }), `${name} is paused.`);
  const remove = async () => {
    const isSure = await askedFirst({
      title: `Delete the queue ${name}?`,
      text: `${whole(lag)} messages wait in it. They are cancelled.`,
      action: 'Delete',
      isDangerous: true,
    });
    if (isSure) await doing(() => ofQueue(account, 'DELETE /v2/queues/{name}', { path }), `${name} is deleted.`);
  };
  return (
    <RowMenu
      label={`Actions of ${name}`}
      items={[
        { label: paused ? 'Resume' : 'Pause', onChoose: () => void pause().then(onDone) },
        { label: 'Edit', onChoose: onEdit },
        { label: 'Delete', isDangerous: true, onChoose: () => void remove().then(onDone) },
      ]}
    />
  );
}

interface EditProps {
  readonly account: string;
  readonly queue: Queue | undefined;
  onClose(): void;
}

function EditQueue({ account, queue, onClose }: EditProps) {
  const name = useSignal(queue?.name ?? '');
  const parallelism = useSignal(String(queue?.parallelism ?? 1));
  const save = async (event: Event) => {
    event.preventDefault();
    const body = { queueName: name.value, parallelism: Number(parallelism.value), paused: queue?.paused ?? false };
    if (await doing(() => ofQueue(account, 'POST /v2/queues', { body }), `${name.value} is saved.`)) onClose();
  };
  return (
    <Dialog title={queue === undefined ? 'New queue' : `Queue ${queue.name}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {queue === undefined && <TextField label="Name" value={name} isRequired />}
        <TextField
          label="Parallelism"
          type="number"
          value={parallelism}
          isRequired
          hint="So many of its messages are under way at a time, with their retries and callbacks."
        />
        <SubmitRow>Save</SubmitRow>
      </form>
    </Dialog>
  );
}
