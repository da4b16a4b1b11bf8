/** URL groups: one publish sends a message to each endpoint. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { mayChangeQueues } from '../../api/session.js';
import { Button, SmallButton, SmallDangerButton } from '../../parts/button.js';
import { asked as askedFirst, Dialog } from '../../parts/dialog.js';
import { SubmitRow, TextField } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { useLinks } from './links.js';
import { NothingYet } from './nothing-yet.js';
import type { TabProps } from './tab.js';

type Group = Schemas['UrlGroup'];
type Endpoint = Schemas['Endpoint'];

export function GroupsTab({ account }: TabProps) {
  const asked = useAsk(account, () => ofQueue(account, 'GET /v2/topics'));
  /** The group that gets an endpoint; '' for a new group. */
  const extended = useSignal<string | undefined>(undefined);
  const extend = (name: string) => () => {
    extended.value = name;
  };
  return (
    <>
      {mayChangeQueues.value && (
        <div class="row list-head">
          <Button onClick={extend('')}>
            <Icon name="plus" />
            New URL group
          </Button>
        </div>
      )}
      <Shown asked={asked}>
        {(groups) => (
          <div class="stack">
            {groups.length === 0 && (
              <div class="table-box">
                <NothingYet
                  title="There are no URL groups"
                  call={`/v2/topics/orders/endpoints -d '{"endpoints":[{"url":"https://example.com"}]}'`}
                >
                  A message to a group goes to each of its endpoints.
                </NothingYet>
              </div>
            )}
            {groups.map((group) => (
              <GroupCard key={group.name} {...{ account, group }} onAdd={extend(group.name)} onDone={asked.reload} />
            ))}
          </div>
        )}
      </Shown>
      {extended.value !== undefined && (
        <AddEndpoint
          account={account}
          group={extended.value}
          onClose={() => {
            extended.value = undefined;
            asked.reload();
          }}
        />
      )}
    </>
  );
}

interface CardProps {
  readonly account: string;
  readonly group: Group;
  onAdd(): void;
  onDone(): void;
}

function GroupCard({ account, group: { name, endpoints, updatedAt }, onAdd, onDone }: CardProps) {
  const links = useLinks();
  const path = { name };
  const removeEndpoint = ({ url }: Endpoint) =>
    doing(
      () => ofQueue(account, 'DELETE /v2/topics/{name}/endpoints', { path, body: { endpoints: [{ url }] } }),
      `The endpoint has left ${name}.`,
    ).then(onDone);
  const remove = async () => {
    const text = 'Its messages stay as they are. Publishing to it is refused from then on.';
    const isSure = await askedFirst({ title: `Delete the group ${name}?`, text, action: 'Delete', isDangerous: true });
    if (!isSure) return;
    await doing(() => ofQueue(account, 'DELETE /v2/topics/{name}', { path }), `${name} is deleted.`);
    onDone();
  };
  const columns: Column<Endpoint>[] = [
    { title: 'Endpoint', cell: (endpoint) => <span dir="auto">{endpoint.name ?? '–'}</span> },
    { title: 'URL', cell: ({ url }) => <span class="wrap-anywhere">{url}</span> },
    ...(mayChangeQueues.value
      ? [
          {
            title: 'Actions',
            cell: (endpoint: Endpoint) => (
              <SmallDangerButton onClick={() => void removeEndpoint(endpoint)}>Remove</SmallDangerButton>
            ),
          },
        ]
      : []),
  ];
  return (
    <section class="card stack tight" aria-label={`URL group ${name}`}>
      <div class="row between">
        <h2 class="wrap-anywhere" dir="auto">
          {name}
        </h2>
        <span class="row">
          <span class="small muted">
            changed <Time at={updatedAt} as="past" />
          </span>
          <a class="button small" href={links.queue({ topicName: name })}>
            Messages
          </a>
          {mayChangeQueues.value && (
            <>
              <SmallButton onClick={onAdd}>Add an endpoint</SmallButton>
              <SmallDangerButton onClick={() => void remove()}>Delete</SmallDangerButton>
            </>
          )}
        </span>
      </div>
      <Table label={`Endpoints of ${name}`} columns={columns} rows={endpoints} idOf={({ url }) => url} />
    </section>
  );
}

interface AddProps {
  readonly account: string;
  readonly group: string;
  onClose(): void;
}

function AddEndpoint({ account, group, onClose }: AddProps) {
  const name = useSignal(group);
  const endpoint = useSignal('');
  const url = useSignal('');
  const save = async (event: Event) => {
    event.preventDefault();
    const path = { name: name.value };
    const body = { endpoints: [{ url: url.value, ...(endpoint.value !== '' && { name: endpoint.value }) }] };
    const isDone = await doing(
      () => ofQueue(account, 'POST /v2/topics/{name}/endpoints', { path, body }),
      `${name.value} has the endpoint.`,
    );
    if (isDone) onClose();
  };
  return (
    <Dialog title={group === '' ? 'New URL group' : `Endpoint of ${group}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {group === '' && <TextField label="Group" value={name} isRequired hint="Its first endpoint makes it." />}
        <TextField label="URL" value={url} isRequired placeholder="https://example.com/hook" />
        <TextField label="Name of the endpoint" value={endpoint} hint="One that comes again replaces the former." />
        <SubmitRow>Save</SubmitRow>
      </form>
    </Dialog>
  );
}
