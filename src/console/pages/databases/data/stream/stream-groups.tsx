/** Groups that read a stream, with their positions and unacknowledged entries. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../../api/ask.js';
import { command, shownOf, wordOf } from '../../../../api/kv.js';
import type { Word } from '../../../../api/kv-bytes.js';
import { mayChangeDatabases } from '../../../../api/session.js';
import { SmallButton, SmallDangerButton } from '../../../../parts/button.js';
import { asked } from '../../../../parts/dialog.js';
import { whole } from '../../../../parts/format.js';
import { Empty, Shown } from '../../../../parts/states.js';
import { type Column, Table } from '../../../../parts/table.js';
import { doing } from '../../../../parts/toast.js';
import type { TypeViewProps } from '../key-record.js';
import { GroupReaders } from './group-readers.js';
import { type InfoRecord, infoRecords } from './info-records.js';

const REFRESH_MS = 5_000;

export function StreamGroups({ id, name }: TypeViewProps) {
  const key = wordOf(name);
  const opened = useSignal<string | undefined>(undefined);
  const groups = useAsk(
    `groups ${id} ${name}`,
    async () => infoRecords(await command(id, 'XINFO', 'GROUPS', key)),
    REFRESH_MS,
  );
  const open = (group: string) => {
    opened.value = opened.value === group ? undefined : group;
  };
  return (
    <>
      {mayChangeDatabases.value && <NewGroup id={id} stream={key} onMade={groups.reload} />}
      <Shown asked={groups}>
        {(all) => (
          <Table
            label="Groups"
            columns={columnsOf(id, key, { opened: opened.value, open, reload: groups.reload })}
            rows={all}
            idOf={(group) => String(group.name)}
            empty={<Empty title="No group reads this stream">A group hands each entry to one of its consumers.</Empty>}
          />
        )}
      </Shown>
      {opened.value !== undefined && <GroupReaders id={id} stream={key} group={opened.value} />}
    </>
  );
}

interface Opening {
  readonly opened: string | undefined;
  open(group: string): void;
  reload(): void;
}

function columnsOf(id: string, key: Word, { opened, open, reload }: Opening): readonly Column<InfoRecord>[] {
  const remove = async (group: string) => {
    const text = 'Its pending entries are dropped. The entries of the stream stay.';
    const title = `Delete the group ${shownOf(group)}?`;
    if (!(await asked({ title, text, action: 'Delete', isDangerous: true }))) return;
    await doing(() => command(id, 'XGROUP', 'DESTROY', key, wordOf(group)), 'It is deleted.');
    reload();
  };
  return [
    {
      title: 'Group',
      cell: ({ name, ...group }) => (
        <>
          <code class="wrap-anywhere">{shownOf(String(name))}</code>
          <div class="small muted">{String(group['last-delivered-id'])}</div>
        </>
      ),
    },
    { title: 'Consumers', isNumber: true, cell: ({ consumers }) => whole(Number(consumers)) },
    { title: 'Pending', isNumber: true, cell: ({ pending }) => whole(Number(pending)) },
    { title: 'Lag', isNumber: true, cell: ({ lag }) => (lag === null ? '–' : whole(Number(lag))) },
    {
      title: 'Actions',
      cell: ({ name }) => (
        <span class="row nowrap">
          <SmallButton aria-expanded={opened === name} onClick={() => open(String(name))}>
            Readers
          </SmallButton>
          {mayChangeDatabases.value && (
            <SmallDangerButton onClick={() => void remove(String(name))}>Delete</SmallDangerButton>
          )}
        </span>
      ),
    },
  ];
}

interface NewGroupProps {
  readonly id: string;
  readonly stream: Word;
  onMade(): void;
}

function NewGroup({ id, stream, onMade }: NewGroupProps) {
  const name = useSignal('');
  const from = useSignal('$');
  const send = async (event: Event) => {
    event.preventDefault();
    const isDone = await doing(
      () => command(id, 'XGROUP', 'CREATE', stream, name.value, from.value),
      'The group is there.',
    );
    if (isDone) name.value = '';
    onMade();
  };
  const field = (label: string, text: typeof name) => (
    <label class="field">
      <span>{label}</span>
      <input
        value={text.value}
        autocomplete="off"
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
    </label>
  );
  return (
    <form class="db-setting" onSubmit={send}>
      {field('New group', name)}
      {field('From ($: new, 0: all)', from)}
      <button type="submit" class="button" disabled={name.value === ''}>
        Make it
      </button>
    </form>
  );
}
