/** Applications: customers that get webhooks, with their endpoints and links to their portals. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { useQueueUrl } from '../../api/queue-url.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { CopyButton } from '../../parts/code.js';
import { asked, Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { NothingYet } from './nothing-yet.js';
import type { TabProps } from './tab.js';

type Application = Schemas['ListedApplication'];

const MAIL_HINT = 'Gets a mail when an endpoint is stopped, disabled or working again.';

export function ApplicationsTab({ account }: TabProps) {
  const listed = useAsk(account, () => ofQueue(account, 'GET /v2/apps'));
  const shown = useSignal<Application | 'new' | undefined>(undefined);
  const open = (one: Application | 'new') => () => {
    shown.value = one;
  };
  const close = () => {
    shown.value = undefined;
    void listed.reload();
  };
  const columns: readonly Column<Application>[] = [
    {
      title: 'Application',
      cell: (one) => (
        <button type="button" class="link" onClick={open(one)}>
          <bdi>{one.name === '' ? one.id : one.name}</bdi>
        </button>
      ),
    },
    { title: 'Uid', cell: ({ uid }) => <bdi class="wrap-anywhere">{uid ?? '–'}</bdi> },
    { title: 'Endpoints', isNumber: true, cell: ({ endpoints }) => endpoints },
    { title: 'Made', isWideOnly: true, cell: ({ createdAt }) => <Time at={createdAt} as="past" /> },
  ];
  return (
    <>
      {mayChangeQueues.value && (
        <div class="row list-head">
          <Button onClick={open('new')}>
            <Icon name="plus" />
            New application
          </Button>
        </div>
      )}
      <Shown asked={listed}>
        {({ applications }) => (
          <Table
            label="Applications"
            columns={columns}
            rows={applications}
            idOf={({ id }) => id}
            empty={
              <NothingYet title="There are no applications" call={`/v2/apps -d '{"name":"Customer Ltd"}'`}>
                An application is a customer that gets webhooks.
              </NothingYet>
            }
          />
        )}
      </Shown>
      {shown.value === 'new' && <NewApplication account={account} onClose={close} />}
      {typeof shown.value === 'object' && (
        <ApplicationDialog account={account} application={shown.value} onClose={close} />
      )}
    </>
  );
}

interface NewProps extends TabProps {
  onClose(): void;
}

function NewApplication({ account, onClose }: NewProps) {
  const name = useSignal('');
  const uid = useSignal('');
  const email = useSignal('');
  const make = async (event: Event) => {
    event.preventDefault();
    const body = {
      name: name.value,
      ...(uid.value !== '' && { uid: uid.value }),
      ...(email.value !== '' && { email: email.value }),
    };
    if (await doing(() => ofQueue(account, 'POST /v2/apps', { body }), 'The application is made.')) onClose();
  };
  const foot = (
    <button type="submit" form="application" class="button primary">
      Make
    </button>
  );
  return (
    <Dialog title="New application" foot={foot} onClose={onClose}>
      <form id="application" class="stack" onSubmit={(event) => void make(event)}>
        <TextField label="Name" value={name} isRequired />
        <TextField label="Uid" value={uid} hint="Your id of the customer." />
        <TextField label="E-mail" type="email" value={email} hint={MAIL_HINT} />
      </form>
    </Dialog>
  );
}

interface ApplicationProps extends NewProps {
  readonly application: Application;
}

function ApplicationDialog({ account, application, onClose }: ApplicationProps) {
  const { id, name } = application;
  const path = { id };
  const listed = useAsk(`${account} ${id}`, () => ofQueue(account, 'GET /v2/apps/{id}/endpoints', { path }));
  const link = useSignal<string | undefined>(undefined);
  const queueUrl = useQueueUrl();
  const makeLink = () =>
    doing(async () => {
      const { token } = await ofQueue(account, 'POST /v2/apps/{id}/portal', { path });
      link.value = `${queueUrl}/portal/${id}#${token}`;
    }, 'The link is valid for an hour.');
  const revoke = async () => {
    const isSure = await asked({
      title: 'Revoke all links',
      text: 'Open pages of the portal end, too.',
      action: 'Revoke',
      isDangerous: true,
    });
    if (!isSure) return;
    link.value = undefined;
    await doing(
      () => ofQueue(account, 'POST /v2/apps/{id}/portal/revoke', { path, body: {} }),
      'All links are revoked.',
    );
  };
  return (
    <Dialog title={name === '' ? id : name} isLarge onClose={onClose}>
      <Shown asked={listed}>{(endpoints) => <EndpointList endpoints={endpoints} />}</Shown>
      <MailAddress account={account} application={application} />
      {link.value !== undefined && (
        <div class="row">
          <a class="wrap-anywhere" href={link.value} target="_blank" rel="noreferrer">
            {link.value.replace(/#.*/, '#…')}
          </a>
          <CopyButton text={link.value} label="Copy link" />
        </div>
      )}
      {mayChangeQueues.value && (
        <Button disabled={queueUrl === undefined} onClick={() => void makeLink()}>
          Make a link to the portal
        </Button>
      )}
      {mayChangeQueues.value && <Button onClick={() => void revoke()}>Revoke all links</Button>}
    </Dialog>
  );
}

interface AddressProps extends TabProps {
  readonly application: Application;
}

function MailAddress({ account, application: { id, email = '' } }: AddressProps) {
  const address = useSignal(email);
  const save = async (event: Event) => {
    event.preventDefault();
    const body = { email: address.value };
    await doing(() => ofQueue(account, 'PATCH /v2/apps/{id}', { path: { id }, body }), 'The address is saved.');
  };
  if (!mayChangeQueues.value) return email === '' ? null : <p class="wrap-anywhere">E-mail: {email}</p>;
  return (
    <form class="row" onSubmit={(event) => void save(event)}>
      <TextField label="E-mail" type="email" value={address} hint={MAIL_HINT} />
      <button type="submit" class="button">
        Save
      </button>
    </form>
  );
}

function EndpointList({ endpoints }: { readonly endpoints: readonly Schemas['ApplicationEndpoint'][] }) {
  return (
    <ul class="stack tight">
      {endpoints.length === 0 && <li>There are no endpoints.</li>}
      {endpoints.map(({ id, url, eventTypes, disabled, breaker }) => (
        <li key={id} class="wrap-anywhere">
          {url} {disabled && <Badge tone="warn">disabled</Badge>}
          {breaker !== undefined && breaker.state !== 'closed' && <Badge tone="bad">stopped</Badge>}
          <span class="small muted"> {eventTypes.length === 0 ? 'all event types' : eventTypes.join(', ')}</span>
        </li>
      ))}
    </ul>
  );
}
