/** Documents of an index in the order of their ids: viewing, editing as JSON, deleting with undo. */
import { type Signal, useSignal } from '@preact/signals';
import type { Asked } from '../../api/ask.js';
import { useAsk } from '../../api/ask.js';
import { ofIndex, queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { mayChange } from '../../api/session.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { bytes, counted } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, type Selection, Table } from '../../parts/table.js';
import { withUndo } from '../../parts/toast.js';
import { DocumentDialog } from './document-dialog.js';
import { type Held, useIndexName } from './held.js';
import { IndexChoice } from './index-choice.js';
import type { SearchDatabase, SearchDocument } from './search-databases.js';

const A_PAGE = 25;
const PREVIEW_CHARACTERS = 160;
/** The address's word for a new document; no id has this form. */
const NEW = '+';

export interface DocumentsProps {
  readonly database: SearchDatabase;
  readonly held: Asked<Held>;
}

export function Documents({ database, held }: DocumentsProps) {
  const [query, set] = usePageQuery();
  const index = useIndexName(held.data ?? {});
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { cursor = '', prefix } = query;
  const body = { cursor, limit: A_PAGE, prefix, includeData: true, includeMetadata: true };
  const asked = useAsk(held.data && `documents ${database.id} ${index} ${JSON.stringify(body)}`, (signal) =>
    ofIndex(database.id, 'POST /search/{id}/range/{index}', { path: { index }, body, signal }),
  );
  const changed = () => {
    asked.reload();
    held.reload();
  };
  const remove = (ids: readonly string[]) => {
    chosen.value = new Set();
    deleteWithUndo({ database, index, ids, hidden, changed });
  };
  return (
    <>
      <Tools held={held} chosen={[...chosen.value]} onDelete={remove} />
      <Shown asked={asked} rows={6}>
        {({ result: { vectors, nextCursor } }) => (
          <>
            <Table
              label={`Documents of ${index}`}
              columns={columnsWith((doc) => queryText({ ...query, doc }), remove)}
              rows={vectors.filter(({ id }) => !hidden.value.has(id))}
              idOf={({ id }) => id}
              selection={mayChange.value ? selectionOf(chosen) : undefined}
              empty={<NoDocuments database={database} index={index} isNarrowed={prefix !== undefined} />}
            />
            <Paging
              text={`${counted(vectors.length, 'document')} on this page, by id`}
              onFirst={cursor === '' ? undefined : () => set({ cursor: undefined })}
              onNext={nextCursor === '' ? undefined : () => set({ cursor: nextCursor }, false)}
            />
          </>
        )}
      </Shown>
      {query.doc !== undefined && (
        <DocumentDialog
          key={query.doc}
          database={database}
          index={index}
          id={query.doc === NEW ? undefined : query.doc}
          onClose={() => set({ doc: undefined })}
          onChanged={() => {
            // A deleted document may exist again.
            hidden.value = new Set();
            changed();
          }}
        />
      )}
    </>
  );
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
  readonly database: SearchDatabase;
  readonly index: string;
  readonly ids: readonly string[];
  readonly hidden: Ids;
  changed(): void;
}

/** Hides the documents immediately, and deletes them after the time for undo. */
function deleteWithUndo({ database, index, ids, hidden, changed }: Deletion): void {
  hidden.value = new Set([...hidden.value, ...ids]);
  const shown = () => {
    hidden.value = new Set([...hidden.value].filter((id) => !ids.includes(id)));
  };
  const send = async () => {
    await ofIndex(database.id, 'POST /search/{id}/delete/{index}', { path: { index }, body: { ids } });
    changed();
  };
  withUndo(ids.length === 1 ? `${ids[0]} is deleted` : `${ids.length} documents are deleted`, send, shown);
}

interface ToolsProps {
  readonly held: Asked<Held>;
  readonly chosen: readonly string[];
  onDelete(ids: readonly string[]): void;
}

function Tools({ held, chosen, onDelete }: ToolsProps) {
  const [query] = usePageQuery();
  return (
    <>
      <div class="row between top" style={{ marginBottom: 'var(--s3)' }}>
        <div class="row">
          <IndexChoice held={held.data ?? {}} />
          <span class="small muted">
            {held.data === undefined ? '' : `${bytes(held.data.bytes)} in all`}
            {(held.data?.pending ?? 0) > 0 && `, ${held.data?.pending} not found by queries yet`}
          </span>
        </div>
        {mayChange.value && (
          <div class="row">
            {chosen.length > 0 && (
              <button type="button" class="button danger" onClick={() => onDelete(chosen)}>
                Delete {chosen.length}
              </button>
            )}
            <a class="button primary" href={queryText({ ...query, doc: NEW })}>
              <Icon name="plus" />
              Add documents
            </a>
          </div>
        )}
      </div>
      <FilterBar filters={[{ name: 'prefix', label: 'Ids that begin with', placeholder: 'book:' }]} />
    </>
  );
}

function columnsWith(
  hrefOf: (id: string) => string,
  remove: (ids: readonly string[]) => void,
): readonly Column<SearchDocument>[] {
  return [
    {
      title: 'Id',
      cell: ({ id }) => (
        <a class="wrap-anywhere search-name" dir="auto" href={hrefOf(id)}>
          {id}
        </a>
      ),
    },
    { title: 'Content', cell: ({ content }) => <Preview value={content} /> },
    { title: 'Metadata', isWideOnly: true, cell: ({ metadata }) => <Preview value={metadata} /> },
    ...(mayChange.value
      ? [
          {
            title: 'Actions',
            isWideOnly: true,
            cell: ({ id }: SearchDocument) => (
              <button type="button" class="button small" onClick={() => remove([id])}>
                Delete
              </button>
            ),
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

interface NoDocumentsProps {
  readonly database: SearchDatabase;
  readonly index: string;
  readonly isNarrowed: boolean;
}

function NoDocuments({ database, index, isNarrowed }: NoDocumentsProps) {
  if (isNarrowed) return <Empty title="No id begins like that">Ids are compared byte by byte.</Empty>;
  const document = '{"id":"1","content":{"title":"Star Wars"}}';
  const url = `${location.protocol}//${database.endpoint}/upsert-data/${encodeURIComponent(index)}`;
  return (
    <Empty
      title="No documents here yet"
      command={`curl -H "Authorization: Bearer $SEARCH_TOKEN" ${url} -d '${document}'`}
    >
      Documents are JSON: an id, a content that is searched, and metadata that is shown and filtered.
    </Empty>
  );
}
