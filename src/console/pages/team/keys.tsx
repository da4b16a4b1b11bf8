/** API keys of the signed-in user: creating, showing once, deleting. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayChange, session } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { SmallDangerButton } from '../../parts/button.js';
import { asked as askedFirst } from '../../parts/dialog.js';
import { NewButton } from '../../parts/icon.js';
import { setter } from '../../parts/setter.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { NewApiKey } from './new-key.js';
import { type ApiKey, DEFAULT_KEY, type Team } from './records.js';

export function Keys() {
  const isMaking = useSignal(false);
  const asked = useAsk('keys', (signal) => manage('GET /v2/apikeys', { signal }));
  const teams = useAsk('teams of keys', (signal) => manage('GET /v2/teams', { signal }));
  const remove = async (name: string) => {
    const isOwn = name === session.value?.key;
    const text = isOwn
      ? 'You are signed in with it: this session ends, too.'
      : 'It is refused from then on, and its sessions end immediately.';
    if (!(await askedFirst({ title: 'Delete this key?', text, action: 'Delete it', isDangerous: true, typed: name })))
      return;
    if (await doing(() => manage('DELETE /v2/apikey/{name}', { path: { name } }), `${name} is deleted`)) asked.reload();
  };
  return (
    <div class="stack">
      <div class="row between">
        <p class="muted">
          A key opens the management API and this console. It is shown once, when it is made: only its hash is kept.
        </p>
        {mayChange.value && <NewButton isMaking={isMaking}>New key</NewButton>}
      </div>
      <Shown asked={asked}>
        {(keys) => (
          <Table
            label="API keys"
            rows={keys}
            idOf={({ name }) => name}
            columns={columnsWith(teams.data ?? [], remove)}
          />
        )}
      </Shown>
      {isMaking.value && <NewApiKey teams={teams.data ?? []} onMade={asked.reload} onClose={setter(isMaking, false)} />}
    </div>
  );
}

function columnsWith(teams: readonly Team[], remove: (name: string) => void): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      cell: ({ name }) => (
        <span class="wrap-anywhere" dir="auto">
          {name} {name === session.value?.key && <Badge tone="accent">this session</Badge>}
        </span>
      ),
    },
    {
      title: 'May',
      cell: ({ readonly }) => (readonly ? <Badge tone="warn">only look</Badge> : <Badge>change</Badge>),
    },
    {
      title: 'Role',
      cell: ({ role, resource_id: only }) =>
        role === undefined ? (
          <span class="muted">none</span>
        ) : (
          <>
            <Badge tone="accent">{role}</Badge> {only !== undefined && <code class="small wrap-anywhere">{only}</code>}
          </>
        ),
    },
    {
      title: 'Account',
      isWideOnly: true,
      cell: ({ customer_id }) => (
        <span class="wrap-anywhere" dir="auto">
          {teams.find(({ team_id }) => team_id === customer_id)?.team_name ?? customer_id}
        </span>
      ),
    },
    { title: 'Made', isWideOnly: true, cell: ({ creation_time }) => <Time at={creation_time * 1_000} as="past" /> },
    ...(mayChange.value
      ? [
          {
            title: 'Actions',
            cell: ({ name }: ApiKey) =>
              name === DEFAULT_KEY ? (
                <span class="small muted">stays</span>
              ) : (
                <SmallDangerButton onClick={() => remove(name)}>Delete</SmallDangerButton>
              ),
          },
        ]
      : []),
  ];
}
