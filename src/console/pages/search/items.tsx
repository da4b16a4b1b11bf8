/** Documents or vectors of a part, page by page: viewing, editing as JSON, deleting with undo, export and import. */
import { type Signal, useSignal } from '@preact/signals';
import type { Asked } from '../../api/ask.js';
import { useAsk } from '../../api/ask.js';
import { queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { mayChangeIndexes } from '../../api/session.js';
import { DangerButton, SmallButton } from '../../parts/button.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { bytes, counted } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, type Selection, Table } from '../../parts/table.js';
import { withUndo } from '../../parts/toast.js';
import { usePartName } from './content.js';
import { ItemDialog, type ItemDialogProps } from './item-dialog.js';
import { ItemFiles } from './item-files.js';
import { PartChoice } from './part-choice.js';
import { type IndexContent, type IndexPlane, type IndexRecord, type Item, shownPart } from './plane.js';

const A_PAGE = 25;
const PREVIEW_CHARACTERS = 160;
/** The address's word for a new one; no id has this form. */
const NEW = '+';

export interface ItemsProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly content: Asked<IndexContent>;
}

export function Items(props: ItemsProps) {
  const { plane, database, content } = props;
  const [query, set] = usePageQuery();
  const part = usePartName(plane, content.data ?? {});
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { cursor = plane.firstCursor, prefix } = query;
  const range = { cursor, limit: A_PAGE, prefix };
  const asked = useAsk(content.data && `items ${database.id} ${part} ${JSON.stringify(range)}`, (signal) =>
    plane.range(database.id, part, range, signal),
  );
  const changed = () => {
    asked.reload();
    content.reload();
  };
  const remove = (ids: readonly string[]) => {
    chosen.value = new Set();
    deleteWithUndo({ plane, database, part, ids, hidden, changed });
  };
  return (
    <>
      <Tools {...props} chosen={[...chosen.value]} onDelete={remove} onStored={changed} />
      <Shown asked={asked} rows={6}>
        {({ vectors, nextCursor }) => (
          <>
            <Table
              label={`${plane.item === 'vector' ? 'Vectors' : 'Documents'} of ${shownPart(part)}`}
              columns={columnsWith(plane, (doc) => queryText({ ...query, doc }), remove)}
              rows={vectors.filter(({ id }) => !hidden.value.has(id))}
              idOf={({ id }) => id}
              selection={mayChangeIndexes.value ? selectionOf(chosen) : undefined}
              empty={<NoItems plane={plane} database={database} part={part} isNarrowed={prefix !== undefined} />}
            />
            <Paging
              text={`${counted(vectors.length, plane.item)} on this page`}
              onFirst={cursor === plane.firstCursor ? undefined : () => set({ cursor: undefined })}
              onNext={nextCursor === '' ? undefined : () => set({ cursor: nextCursor }, false)}
            />
          </>
        )}
      </Shown>
      <OpenItem
        plane={plane}
        database={database}
        part={part}
        onChanged={() => {
          // A deleted one may exist again.
          hidden.value = new Set();
          changed();
        }}
      />
    </>
  );
}

/** The one in the address. */
function OpenItem(props: Omit<ItemDialogProps, 'id' | 'onClose'>) {
  const [{ doc }, set] = usePageQuery();
  if (doc === undefined) return null;
  return <ItemDialog key={doc} {...props} id={doc === NEW ? undefined : doc} onClose={() => set({ doc: undefined })} />;
}

type Ids = Signal<ReadonlySet<string>>;

function selectionOf(chosen: Ids): Selection<string> {
  return {
    chosen: chosen.value,
    set: (next) => {
      chosen.value = next;
    },
  };
}

interface Deletion {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly part: string;
  readonly ids: readonly string[];
  readonly hidden: Ids;
  changed(): void;
}

/** Hides the items immediately, and deletes them after the time for undo. */
function deleteWithUndo({ plane, database, part, ids, hidden, changed }: Deletion): void {
  hidden.value = new Set([...hidden.value, ...ids]);
  const shown = () => {
    hidden.value = new Set([...hidden.value].filter((id) => !ids.includes(id)));
  };
  const send = async () => {
    await plane.removeItems(database.id, part, ids);
    changed();
  };
  withUndo(ids.length === 1 ? `${ids[0]} is deleted` : `${ids.length} ${plane.item}s are deleted`, send, shown);
}

interface ToolsProps extends ItemsProps {
  readonly chosen: readonly string[];
  onDelete(ids: readonly string[]): void;
  onStored(): void;
}

function Tools({ plane, database, content, chosen, onDelete, onStored }: ToolsProps) {
  const [query] = usePageQuery();
  return (
    <>
      <div class="row between top" style={{ marginBottom: 'var(--s3)' }}>
        <div class="row">
          <PartChoice plane={plane} content={content.data ?? {}} />
          <span class="small muted">
            {content.data === undefined ? '' : `${bytes(content.data.bytes)} in all`}
            {(content.data?.pending ?? 0) > 0 && `, ${content.data?.pending} not found by queries yet`}
          </span>
        </div>
        <div class="row">
          <ItemFiles plane={plane} database={database} content={content.data ?? {}} onStored={onStored} />
          {mayChangeIndexes.value && (
            <>
              {chosen.length > 0 && (
                <DangerButton onClick={() => onDelete(chosen)}>Delete {chosen.length}</DangerButton>
              )}
              <a class="button primary" href={queryText({ ...query, doc: NEW })}>
                <Icon name="plus" />
                Add {plane.item}s
              </a>
            </>
          )}
        </div>
      </div>
      <FilterBar filters={[{ name: 'prefix', label: 'Ids that begin with', placeholder: 'book:' }]} />
    </>
  );
}

function columnsWith(
  plane: IndexPlane,
  hrefOf: (id: string) => string,
  remove: (ids: readonly string[]) => void,
): readonly Column<Item>[] {
  return [
    {
      title: 'Id',
      cell: ({ id }) => (
        <a class="wrap-anywhere search-name" dir="auto" href={hrefOf(id)}>
          {id}
        </a>
      ),
    },
    ...plane.columns.map(([title, of]) => ({ title, cell: (item: Item) => <Preview value={of(item)} /> })),
    { title: 'Metadata', isWideOnly: true, cell: ({ metadata }) => <Preview value={metadata} /> },
    ...(mayChangeIndexes.value
      ? [
          {
            title: 'Actions',
            isWideOnly: true,
            cell: ({ id }: Item) => <SmallButton onClick={() => remove([id])}>Delete</SmallButton>,
          },
        ]
      : []),
  ];
}

function Preview({ value }: { readonly value: unknown }) {
  if (value === undefined) return <span class="muted">–</span>;
  const text = JSON.stringify(value);
  return (
    <code class="wrap-anywhere small" dir="auto">
      {text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text}
    </code>
  );
}

interface NoItemsProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly part: string;
  readonly isNarrowed: boolean;
}

function NoItems({ plane, database, part, isNarrowed }: NoItemsProps) {
  if (isNarrowed) return <Empty title="No id begins like that">Ids are compared byte by byte.</Empty>;
  const isVector = plane.item === 'vector';
  const first = isVector ? '{"id":"1","vector":[0.1,0.2,0.3]}' : '{"id":"1","content":{"title":"Star Wars"}}';
  const url = `${location.protocol}//${database.endpoint}/${isVector ? 'upsert' : 'upsert-data'}/${encodeURIComponent(part)}`;
  return (
    <Empty
      title={`No ${plane.item}s here yet`}
      command={`curl -H "Authorization: Bearer $${isVector ? 'VECTOR' : 'SEARCH'}_TOKEN" ${url} -d '${first}'`}
    >
      {isVector
        ? 'A vector has an id, its numbers, and metadata that is shown and filtered.'
        : 'Documents are JSON: an id, a content that is searched, and metadata that is shown and filtered.'}
    </Empty>
  );
}
