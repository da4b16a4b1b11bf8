/** The content of a database: the list of keys and the open key. The whole state is in the address. */
import { type Signal, useSignal } from '@preact/signals';
import { usePageQuery } from '../../../api/query.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { Button, SmallButton } from '../../../parts/button.js';
import { FilterBar } from '../../../parts/filter-bar.js';
import { Icon, NewButton } from '../../../parts/icon.js';
import { setter } from '../../../parts/setter.js';
import { deleteKeys, forgetSent, goneKeys, keysAreBack } from './deletions.js';
import { FlatKeys, FolderKeys } from './key-lists.js';
import { KeyPage } from './key-page.js';
import { addressOfKey, keyOfAddress, type SeenKeys, SHOWN_TYPES, TYPE_LABELS } from './listed-keys.js';
import { NewKeyDialog } from './new-key.js';

const NO_KEY = { key: undefined, key64: undefined } as const;
const NONE: ReadonlySet<string> = new Set();

export default function DataBrowser({ database: id }: { readonly database: string }) {
  const [query, set] = usePageQuery();
  const round = useSignal(0);
  const chosen = useSignal(NONE);
  const isMaking = useSignal(false);
  const seen = useSignal<SeenKeys>(new Map());
  const opened = keyOfAddress(query);
  const again = () => {
    forgetSent(id);
    seen.value = new Map();
    round.value += 1;
  };
  const remove = (names: readonly string[]) => {
    deleteKeys(id, names);
    chosen.value = NONE;
    if (opened !== undefined && names.includes(opened)) set(NO_KEY);
  };
  const show = (name: string) => {
    keysAreBack(id, [name]);
    set({ ...NO_KEY, ...addressOfKey(name) });
    again();
  };
  return (
    <div class={`key-browser ${opened === undefined ? '' : 'has-key'}`}>
      <section class="key-side" aria-label="All keys">
        <Tools isMaking={isMaking} onReload={again} />
        {chosen.value.size > 0 && <ChosenKeys chosen={chosen} onDelete={remove} />}
        <Keys id={id} round={round.value} opened={opened} chosen={chosen} seen={seen.value} />
      </section>
      <section class="key-main" aria-label="The open key">
        {opened === undefined ? (
          <p class="empty">Choose a key to see its value.</p>
        ) : (
          <KeyPage
            key={opened}
            id={id}
            name={opened}
            onClose={() => set(NO_KEY)}
            onMoved={show}
            onDelete={() => remove([opened])}
            onSeen={(record) => {
              seen.value = new Map(seen.value).set(opened, record);
            }}
          />
        )}
      </section>
      {isMaking.value && <NewKeyDialog id={id} onClose={() => closed(isMaking)} onMade={show} />}
    </div>
  );
}

function closed(isOpen: Signal<boolean>): void {
  isOpen.value = false;
}

interface KeysProps {
  readonly id: string;
  readonly round: number;
  readonly opened: string | undefined;
  readonly chosen: Signal<ReadonlySet<string>>;
  readonly seen: SeenKeys;
}

function Keys({ id, round, opened, chosen, seen }: KeysProps) {
  const [query] = usePageQuery();
  const filter = { match: patternOf(query.match), type: SHOWN_TYPES.find((type) => type === query.type) ?? '' };
  const List = isFlat(query) ? FlatKeys : FolderKeys;
  const choose = (name: string) => {
    const next = new Set(chosen.value);
    if (!next.delete(name)) next.add(name);
    chosen.value = next;
  };
  return (
    <List
      id={id}
      filter={filter}
      round={round}
      opened={opened}
      chosen={mayChangeDatabases.value ? chosen.value : undefined}
      gone={goneKeys(id)}
      seen={seen}
      onChoose={choose}
    />
  );
}

/** A pattern searches keys in all folders. */
function isFlat({ view, match }: Readonly<Record<string, string | undefined>>): boolean {
  return view === 'list' || Boolean(match);
}

/** A text without pattern characters searches for a part of the name. */
function patternOf(words = ''): string {
  return words === '' || /[*?[\\]/.test(words) ? words : `*${words}*`;
}

function Tools({ isMaking, onReload }: { readonly isMaking: Signal<boolean>; onReload(): void }) {
  const [query, set] = usePageQuery();
  const flat = isFlat(query);
  return (
    <FilterBar
      filters={[
        { name: 'match', label: 'Pattern', placeholder: 'user:* or a part' },
        {
          name: 'type',
          label: 'Type',
          options: [['', 'all'], ...SHOWN_TYPES.map((type) => [type, TYPE_LABELS[type]] as const)],
        },
      ]}
    >
      <fieldset class="choices">
        <legend class="visually-hidden">How keys are shown</legend>
        <Button aria-pressed={!flat} onClick={() => set({ view: undefined, match: undefined })}>
          Folders
        </Button>
        <Button aria-pressed={flat} onClick={() => set({ view: 'list' })}>
          List
        </Button>
        <button type="button" class="button icon" aria-label="Load the keys again" onClick={onReload}>
          <Icon name="reload" />
        </button>
        {mayChangeDatabases.value && <NewButton isMaking={isMaking}>New key</NewButton>}
      </fieldset>
    </FilterBar>
  );
}

interface ChosenKeysProps {
  readonly chosen: Signal<ReadonlySet<string>>;
  onDelete(names: readonly string[]): void;
}

function ChosenKeys({ chosen, onDelete }: ChosenKeysProps) {
  return (
    <div class="note">
      <span class="grow">{chosen.value.size} chosen</span>
      <SmallButton onClick={setter(chosen, NONE)}>None</SmallButton>
      <SmallButton onClick={() => onDelete([...chosen.value])}>Delete them</SmallButton>
    </div>
  );
}
