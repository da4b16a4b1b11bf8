/** Members of a list, hash, set or sorted set: paging, filtering, adding, editing, removing. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../../../api/ask.js';
import { beginningOf, shownOf, wordOf } from '../../../api/kv.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { SmallButton } from '../../../parts/button.js';
import { asked } from '../../../parts/dialog.js';
import { duration, whole } from '../../../parts/format.js';
import { Icon } from '../../../parts/icon.js';
import { setter } from '../../../parts/setter.js';
import { Shown } from '../../../parts/states.js';
import { type Column, Paging, Table } from '../../../parts/table.js';
import { doing } from '../../../parts/toast.js';
import type { CollectionKind, CollectionMember, Part, Place } from './collections/collection.js';
import type { TypeViewProps } from './key-record.js';
import { MemberDialog } from './member-dialog.js';

/** Characters of a value shown in a list; its dialog shows the whole value. */
const SHOWN_CHARACTERS = 300;

interface Look {
  readonly filter: string;
  readonly cursor: string;
  readonly isReversed: boolean;
}

const FIRST: Look = { filter: '', cursor: '', isReversed: false };

export function CollectionView({ id, name, kind, onChanged }: TypeViewProps & { readonly kind: CollectionKind }) {
  const look = useSignal(FIRST);
  const opened = useSignal<CollectionMember | 'new' | undefined>(undefined);
  const place = { id, key: wordOf(name) };
  const { filter, cursor, isReversed } = look.value;
  const page = useAsk(`${id} ${name} ${filter} ${cursor} ${isReversed}`, () => kind.load({ ...place, ...look.value }));
  const changed = () => {
    opened.value = undefined;
    page.reload();
    onChanged();
  };
  return (
    <div class="stack tight">
      <MemberTools kind={kind} look={look} opened={opened} />
      <Shown asked={page}>
        {({ members, next }) => (
          <>
            <Table
              label="Members"
              columns={columnsOf(kind, place, opened, changed)}
              rows={members}
              idOf={(member) => member.id}
              empty={<p class="empty">{next === undefined ? 'No entry matches.' : 'No match so far; load more.'}</p>}
            />
            <Paging
              text={`${whole(members.length)} on this page`}
              onFirst={cursor === '' ? undefined : () => turn(look, '')}
              onNext={next === undefined ? undefined : () => turn(look, next)}
            />
          </>
        )}
      </Shown>
      {opened.value !== undefined && (
        <MemberDialog
          kind={kind}
          place={place}
          member={opened.value === 'new' ? undefined : opened.value}
          onClose={setter(opened, undefined)}
          onSaved={changed}
        />
      )}
    </div>
  );
}

function turn(look: Signal<Look>, cursor: string): void {
  look.value = { ...look.value, cursor };
}

interface MemberToolsProps {
  readonly kind: CollectionKind;
  readonly look: Signal<Look>;
  readonly opened: Signal<CollectionMember | 'new' | undefined>;
}

function MemberTools({ kind, look, opened }: MemberToolsProps) {
  return (
    <div class="row between">
      <label class="row">
        <span class="small muted">{kind.filterLabel}</span>
        <input
          class="member-filter"
          value={look.value.filter}
          autocomplete="off"
          spellcheck={false}
          onChange={({ currentTarget }) => {
            look.value = { ...look.value, filter: currentTarget.value, cursor: '' };
          }}
        />
      </label>
      <div class="row">
        {kind.hasOrder && (
          <SmallButton
            aria-pressed={look.value.isReversed}
            onClick={() => {
              look.value = { ...look.value, cursor: '', isReversed: !look.value.isReversed };
            }}
          >
            Highest first
          </SmallButton>
        )}
        {mayChangeDatabases.value && (
          <SmallButton onClick={setter(opened, 'new')}>
            <Icon name="plus" />
            Add
          </SmallButton>
        )}
      </div>
    </div>
  );
}

function columnsOf(
  kind: CollectionKind,
  place: Place,
  opened: MemberToolsProps['opened'],
  changed: () => void,
): readonly Column<CollectionMember>[] {
  const columns = kind.parts.map((part) => columnOf(part, kind));
  const remove = async (member: CollectionMember) => {
    const label = shownOf(member.name ?? member.value ?? '').slice(0, 80);
    const isSure = await asked({ title: 'Take it out?', text: label, action: 'Take it out', isDangerous: true });
    if (isSure && (await doing(() => kind.remove(place, member), 'It is taken out.'))) changed();
  };
  const actions: Column<CollectionMember> = {
    title: 'Actions',
    cell: (member) => (
      <span class="row nowrap">
        <SmallButton onClick={setter(opened, member)}>{mayChangeDatabases.value ? 'Edit' : 'Open'}</SmallButton>
        {mayChangeDatabases.value && (
          <button type="button" class="button small icon" aria-label="Take it out" onClick={() => void remove(member)}>
            <Icon name="close" />
          </button>
        )}
      </span>
    ),
  };
  return [...columns, actions];
}

function columnOf(part: Part, { nameLabel }: CollectionKind): Column<CollectionMember> {
  switch (part) {
    case 'index':
      return { title: 'Index', isNumber: true, cell: ({ index = 0 }) => whole(index) };
    case 'score':
      return { title: 'Score', isNumber: true, cell: ({ score }) => score };
    case 'ttl':
      return {
        title: 'Expires',
        isWideOnly: true,
        cell: ({ ttlMs }) => (ttlMs == null ? '–' : `in ${duration(ttlMs)}`),
      };
    case 'name':
      return { title: nameLabel, cell: ({ name = '' }) => <CutValue binary={name} /> };
    case 'value':
      return { title: 'Value', cell: ({ value = '' }) => <CutValue binary={value} /> };
  }
}

/** A value as text; only its beginning if it is long. */
export function CutValue({ binary }: { readonly binary: string }) {
  const isLong = binary.length > SHOWN_CHARACTERS;
  const shown = shownOf(isLong ? beginningOf(binary, SHOWN_CHARACTERS) : binary);
  return (
    <code class="wrap-anywhere" dir="auto">
      {shown === '' ? <span class="muted">(empty)</span> : shown}
      {isLong && <span class="muted"> … {whole(binary.length)} bytes</span>}
    </code>
  );
}
