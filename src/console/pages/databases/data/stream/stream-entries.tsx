/** Entries of a stream, in either order, page by page. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../../../../api/ask.js';
import { command, wordOf } from '../../../../api/kv.js';
import type { Word } from '../../../../api/kv-bytes.js';
import { mayChangeDatabases } from '../../../../api/session.js';
import { SmallButton } from '../../../../parts/button.js';
import { asked } from '../../../../parts/dialog.js';
import { whole } from '../../../../parts/format.js';
import { Icon } from '../../../../parts/icon.js';
import { setter } from '../../../../parts/setter.js';
import { Shown } from '../../../../parts/states.js';
import { type Column, Paging, Table } from '../../../../parts/table.js';
import { Time } from '../../../../parts/time.js';
import { doing } from '../../../../parts/toast.js';
import { CutValue } from '../collection-view.js';
import { pairs } from '../collections/collection.js';
import type { TypeViewProps } from '../key-record.js';
import { NewEntry } from './new-entry.js';

const PAGE_ENTRIES = 50;

interface Entry {
  readonly id: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    title: 'Id',
    cell: ({ id }) => (
      <>
        <code>{id}</code>
        <div class="small muted">
          <Time at={Number(id.split('-')[0])} as="ago" />
        </div>
      </>
    ),
  },
  {
    title: 'Fields',
    cell: ({ fields }) =>
      fields.map(([name, value], at) => (
        <div key={at}>
          <span class="small muted">
            <CutValue binary={name} />{' '}
          </span>
          <CutValue binary={value} />
        </div>
      )),
  },
];

export function StreamEntries({ id, name, onChanged }: TypeViewProps) {
  const key = wordOf(name);
  const isOldest = useSignal(false);
  /** The page begins after this entry; '' for the first page. */
  const after = useSignal('');
  const isAdding = useSignal(false);
  const page = useAsk(`${id} ${name} ${isOldest.value} ${after.value}`, () =>
    entriesOf(id, key, isOldest.value, after.value),
  );
  const changed = () => {
    isAdding.value = false;
    page.reload();
    onChanged();
  };
  return (
    <>
      <EntryTools isOldest={isOldest} after={after} isAdding={isAdding} />
      <Shown asked={page}>
        {(entries) => (
          <>
            <Table
              label="Entries"
              columns={mayChangeDatabases.value ? [...COLUMNS, deletion(id, key, changed)] : COLUMNS}
              rows={entries}
              idOf={(entry) => entry.id}
              empty={<p class="empty">There is no entry.</p>}
            />
            <Paging
              text={`${whole(entries.length)} on this page`}
              onFirst={after.value === '' ? undefined : () => turn('')}
              onNext={entries.length < PAGE_ENTRIES ? undefined : () => turn(entries.at(-1)?.id ?? '')}
            />
          </>
        )}
      </Shown>
      {isAdding.value && <NewEntry id={id} stream={key} onClose={() => turnOff()} onAdded={changed} />}
    </>
  );

  function turn(to: string): void {
    after.value = to;
  }
  function turnOff(): void {
    isAdding.value = false;
  }
}

interface EntryToolsProps {
  readonly isOldest: Signal<boolean>;
  readonly after: Signal<string>;
  readonly isAdding: Signal<boolean>;
}

function EntryTools({ isOldest, after, isAdding }: EntryToolsProps) {
  return (
    <div class="row between">
      <SmallButton
        aria-pressed={isOldest.value}
        onClick={() => {
          after.value = '';
          isOldest.value = !isOldest.value;
        }}
      >
        Oldest first
      </SmallButton>
      {mayChangeDatabases.value && (
        <SmallButton onClick={setter(isAdding, true)}>
          <Icon name="plus" />
          Add an entry
        </SmallButton>
      )}
    </div>
  );
}

async function entriesOf(id: string, key: Word, isOldest: boolean, after: string): Promise<readonly Entry[]> {
  const begin = after === '' ? '' : `(${after}`;
  const words = isOldest ? ['XRANGE', key, begin || '-', '+'] : ['XREVRANGE', key, begin || '+', '-'];
  const reply = (await command(id, ...words, 'COUNT', PAGE_ENTRIES)) as readonly (readonly [
    string,
    readonly string[],
  ])[];
  return reply.map(([entry, items]) => ({ id: entry, fields: pairs(items) }));
}

function deletion(database: string, key: Word, changed: () => void): Column<Entry> {
  const remove = async (entry: string) => {
    const isSure = await asked({ title: 'Delete the entry?', text: entry, action: 'Delete', isDangerous: true });
    if (isSure && (await doing(() => command(database, 'XDEL', key, entry), 'It is deleted.'))) changed();
  };
  return {
    title: 'Actions',
    cell: ({ id }) => (
      <button type="button" class="button small icon" aria-label={`Delete ${id}`} onClick={() => void remove(id)}>
        <Icon name="close" />
      </button>
    ),
  };
}
