/** The users of a database, with their rules and tokens. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../api/ask.js';
import { command, shownOf } from '../../../api/kv.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import { PrimaryButton, SmallButton, SmallDangerButton } from '../../../parts/button.js';
import { CodeText } from '../../../parts/code-text.js';
import { asked } from '../../../parts/dialog.js';
import { Icon } from '../../../parts/icon.js';
import { Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { doing } from '../../../parts/toast.js';
import type { DatabaseView } from '../records.js';
import { type AclUserLine, BUILT_IN, toldRules, userIn } from './rules.js';
import { TokenDialog } from './token-dialog.js';
import { UserDialog } from './user-dialog.js';

type Opened = { readonly dialog: 'new' } | { readonly dialog: 'rules' | 'token'; readonly user: AclUserLine };

export function UsersTab({ database }: { readonly database: DatabaseView }) {
  const id = database.database_id;
  const users = useAsk(`users ${id}`, () => usersOf(id));
  const opened = useSignal<Opened | undefined>(undefined);
  const close = () => {
    opened.value = undefined;
    users.reload();
  };
  const open = (next: Opened) => {
    opened.value = next;
  };
  const now = opened.value;
  return (
    <div class="stack">
      <div class="row between">
        <p class="muted">
          <CodeText text="`default` is the user of the password and the REST token, `default_ro` that of the read-only token. Both cannot be changed here." />
        </p>
        {mayChangeDatabases.value && (
          <PrimaryButton onClick={() => open({ dialog: 'new' })}>
            <Icon name="plus" />
            New user
          </PrimaryButton>
        )}
      </div>
      <Shown asked={users}>
        {(all) => (
          <Table
            label="Users"
            columns={mayChangeDatabases.value ? [...COLUMNS, actionsOf(id, open, users.reload)] : COLUMNS}
            rows={all}
            idOf={({ name }) => name}
          />
        )}
      </Shown>
      {now?.dialog === 'new' && <UserDialog database={id} onClose={close} />}
      {now?.dialog === 'rules' && <UserDialog database={id} user={now.user} onClose={close} />}
      {now?.dialog === 'token' && <TokenDialog database={database} user={now.user.name} onClose={close} />}
    </div>
  );
}

async function usersOf(id: string): Promise<readonly AclUserLine[]> {
  const lines = await command(id, 'ACL', 'LIST');
  return (Array.isArray(lines) ? lines : []).map((line: unknown) => userIn(shownOf(String(line))));
}

const COLUMNS: readonly Column<AclUserLine>[] = [
  {
    title: 'User',
    cell: ({ name }) => (
      <span class="row">
        <span class="wrap-anywhere" dir="auto">
          {name}
        </span>
        {BUILT_IN.has(name) && <Badge>built in</Badge>}
      </span>
    ),
  },
  { title: 'State', cell: ({ isOn }) => <Badge tone={isOn ? 'good' : 'warn'}>{isOn ? 'on' : 'off'}</Badge> },
  {
    title: 'Passwords',
    isNumber: true,
    cell: ({ passwords, isOpenToAll }) => (isOpenToAll ? 'none needed' : passwords),
  },
  {
    title: 'May',
    isWideOnly: true,
    cell: ({ rules }) => (
      <code class="wrap-anywhere" dir="auto">
        {toldRules(rules)}
      </code>
    ),
  },
];

function actionsOf(database: string, open: (next: Opened) => void, reload: () => void): Column<AclUserLine> {
  const remove = async (name: string) => {
    const isSure = await asked({
      title: `Delete ${name}?`,
      text: 'Its passwords and tokens are refused from then on, and its connections are closed.',
      action: 'Delete',
      isDangerous: true,
    });
    if (!isSure) return;
    await doing(() => command(database, 'ACL', 'DELUSER', name), `${name} is deleted.`);
    reload();
  };
  return {
    title: 'Actions',
    cell: (user) =>
      !BUILT_IN.has(user.name) && (
        <span class="row">
          <SmallButton onClick={() => open({ dialog: 'rules', user })}>Edit</SmallButton>
          <SmallButton onClick={() => open({ dialog: 'token', user })}>Token</SmallButton>
          <SmallDangerButton onClick={() => void remove(user.name)}>Delete</SmallDangerButton>
        </span>
      ),
  };
}
