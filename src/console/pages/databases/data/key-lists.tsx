/** The keys of a database, as a list or as folders. */
import type { ReadonlySignal } from '@preact/signals';
import { shownOf } from '../../../api/kv.js';
import { SmallButton } from '../../../parts/button.js';
import { counted, whole } from '../../../parts/format.js';
import { Icon } from '../../../parts/icon.js';
import { Empty, Failure, Loading } from '../../../parts/states.js';
import { VirtualList } from '../../../parts/virtual-list.js';
import { useKeyPages } from './key-pages.js';
import { KeyRow } from './key-row.js';
import { type TreeRow, useKeyTree } from './key-tree.js';
import type { KeyListFilter, ListedKey, SeenKeys } from './listed-keys.js';

export interface KeyListProps {
  readonly id: string;
  readonly filter: KeyListFilter;
  /** A new number reloads the list. */
  readonly round: number;
  readonly opened: string | undefined;
  /** Undefined: keys cannot be selected. */
  readonly chosen: ReadonlySet<string> | undefined;
  /** Deleted, or about to be. */
  readonly gone: ReadonlySignal<ReadonlyMap<string, boolean>>;
  readonly seen: SeenKeys;
  onChoose(name: string): void;
}

export function FlatKeys({ id, filter, round, opened, chosen, gone, seen, onChoose }: KeyListProps) {
  const pages = useKeyPages(id, filter, round);
  const rows = gone.value.size === 0 ? pages.keys : pages.keys.filter(({ name }) => !gone.value.has(name));
  if (pages.error !== undefined) return <Failure error={pages.error} onRetry={pages.more} />;
  if (rows.length === 0 && pages.isLoading) return <Loading rows={8} />;
  if (rows.length === 0 && pages.isWhole) return <NoKeys isFiltered={filter.match !== '' || filter.type !== ''} />;
  return (
    <>
      <VirtualList
        label="Keys"
        rows={rows}
        keyOf={({ name }) => name}
        onNearEnd={pages.isPaused ? undefined : pages.more}
        drawn={(row) => (
          <KeyRow
            row={asSeen(row, seen)}
            isOpen={row.name === opened}
            isChosen={chosen?.has(row.name)}
            onChoose={onChoose}
          />
        )}
      />
      <p class="small muted keys-foot" role="status">
        {pages.isWhole ? counted(rows.length, 'key') : `${counted(rows.length, 'key')} so far`}
        {pages.isLoading && ', looking on …'}
        {pages.isPaused && <SmallButton onClick={pages.more}>Look on</SmallButton>}
      </p>
    </>
  );
}

export function FolderKeys({ id, filter, round, opened, chosen, gone, seen, onChoose }: KeyListProps) {
  const tree = useKeyTree(id, filter.type, round);
  const rows = tree.rows.filter((row) => row.kind !== 'key' || !gone.value.has(row.key.name));
  const [first] = rows;
  if (first === undefined) return <NoKeys isFiltered={filter.type !== ''} />;
  if (rows.length === 1 && first.kind === 'more') {
    return first.error === undefined ? (
      <Loading rows={8} />
    ) : (
      <Failure error={first.error} onRetry={() => tree.more('')} />
    );
  }
  const drawn = (row: TreeRow) => {
    if (row.kind === 'folder') return <Folder row={row} onToggle={tree.toggle} />;
    if (row.kind === 'more') return <More row={row} onMore={tree.more} />;
    const { key, depth, below } = row;
    return (
      <KeyRow
        row={asSeen(key, seen)}
        isOpen={key.name === opened}
        isChosen={chosen?.has(key.name)}
        depth={depth}
        below={below}
        onChoose={onChoose}
      />
    );
  };
  return <VirtualList label="Keys" rows={rows} keyOf={rowKey} drawn={drawn} />;
}

function asSeen(key: ListedKey, seen: SeenKeys): ListedKey {
  const found = seen.get(key.name);
  return found === undefined ? key : { ...key, ...found };
}

function rowKey(row: TreeRow): string {
  return row.kind === 'key' ? `k${row.key.name}` : `${row.kind}${row.prefix}`;
}

type RowOf<Kind> = Extract<TreeRow, { kind: Kind }>;

function Folder({ row, onToggle }: { readonly row: RowOf<'folder'>; onToggle(prefix: string): void }) {
  const { prefix, name, keys, depth, isOpen } = row;
  return (
    <button
      type="button"
      class="key-row folder"
      aria-expanded={isOpen}
      style={{ paddingLeft: `${8 + depth * 16}px` }}
      onClick={() => onToggle(prefix)}
    >
      <Icon name="chevron" />
      <span class="cut" dir="auto">
        {shownOf(name) || '(empty)'}
      </span>
      <span class="key-size small muted">{whole(keys)}</span>
    </button>
  );
}

function More({ row, onMore }: { readonly row: RowOf<'more'>; onMore(prefix: string): void }) {
  return (
    <div class="key-row" style={{ paddingLeft: `${8 + row.depth * 16}px` }}>
      {row.isLoading ? (
        <span class="small muted">looking on …</span>
      ) : (
        <SmallButton onClick={() => onMore(row.prefix)}>Look on</SmallButton>
      )}
      {row.error !== undefined && <span class="small cut">{row.error.message}</span>}
    </div>
  );
}

function NoKeys({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No key is like that">Take the filter away to see all of them.</Empty>;
  return <Empty title="There is no key yet" command="SET greeting hello" />;
}
