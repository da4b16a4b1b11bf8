/** A full-text index: its definition, its size, and a filter to try. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../api/ask.js';
import { command, type Reply, shownOf, wordOf } from '../../../api/kv.js';
import { TextField } from '../../../parts/field.js';
import { whole } from '../../../parts/format.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Table } from '../../../parts/table.js';
import type { TypeViewProps } from './key-record.js';
import { infoRecords } from './stream/info-records.js';

const REFRESH_MS = 5_000;
const FOUND = 20;

interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly options: string;
}

interface FoundRow {
  readonly key: string;
  readonly score: string;
}

export function SearchView({ id, name }: TypeViewProps) {
  const key = wordOf(name);
  const asked = useAsk(
    `search ${id} ${name}`,
    async () => infoRecords([await command(id, 'SEARCH.DESCRIBE', key)])[0],
    REFRESH_MS,
  );
  return (
    <Shown asked={asked}>
      {(index) =>
        index === undefined ? (
          <Empty title="The index is gone">It was dropped, or has expired.</Empty>
        ) : (
          <div class="stack tight">
            <dl class="facts">
              <dt>Keys</dt>
              <dd>{coveredKeys(index)}</dd>
              <dt>Language</dt>
              <dd>{String(index.language)}</dd>
              <dt>Documents</dt>
              <dd>{whole(Number(index.indexSize))}</dd>
              <dt>Pending updates</dt>
              <dd>{whole(Number(index.pendingUpdates))}</dd>
            </dl>
            <Table
              label="Fields"
              columns={[
                { title: 'Field', cell: ({ path }: FieldRow) => <code class="wrap-anywhere">{path}</code> },
                { title: 'Type', cell: ({ type }) => type },
                { title: 'Options', cell: ({ options }) => options },
              ]}
              rows={fieldsOf(index.schema)}
              idOf={({ path }) => path}
              empty={<Empty title="No fields" />}
            />
            <Trial id={id} name={name} />
          </div>
        )
      }
    </Shown>
  );
}

function coveredKeys({ type, prefixes, stream }: Readonly<Record<string, Reply>>): string {
  if (stream !== undefined) return `the entries of ${shownOf(String(stream))}`;
  const shown = listOf(prefixes).map((prefix) => (prefix === '' ? 'any name' : `${shownOf(String(prefix))}…`));
  return `${String(type).toLowerCase()}, ${shown.join(', ')}`;
}

function fieldsOf(schema: Reply | undefined): readonly FieldRow[] {
  return listOf(schema).map((field) => {
    const [path, type, ...options] = listOf(field).map((word) => shownOf(String(word)));
    return { path: path ?? '', type: type ?? '', options: options.join(' ') };
  });
}

function listOf(reply: Reply | undefined): readonly Reply[] {
  return Array.isArray(reply) ? (reply as readonly Reply[]) : [];
}

/** Runs a filter and lists the best documents. */
function Trial({ id, name }: Pick<TypeViewProps, 'id' | 'name'>) {
  const filter = useSignal('{}');
  const sent = useSignal('{}');
  const asked = useAsk(`search ${id} ${name} ${sent.value}`, async () => {
    const reply = await command(id, 'SEARCH.QUERY', wordOf(name), sent.value, 'LIMIT', String(FOUND), 'NOCONTENT');
    return listOf(reply).map((found): FoundRow => {
      const [key, score] = listOf(found);
      return { key: shownOf(String(key)), score: Number(score).toPrecision(3) };
    });
  });
  const send = (event: Event) => {
    event.preventDefault();
    sent.value = filter.value;
  };
  return (
    <form class="stack tight" onSubmit={send}>
      <TextField label="Filter" value={filter} placeholder='{"name":"red shoe"}' />
      <div class="row">
        <button type="submit" class="button small">
          Find
        </button>
      </div>
      <Shown asked={asked}>
        {(found) => (
          <Table
            label="Found documents"
            columns={[
              { title: 'Key', cell: ({ key }: FoundRow) => <code class="wrap-anywhere">{key}</code> },
              { title: 'Score', cell: ({ score }) => score, isNumber: true },
            ]}
            rows={found}
            idOf={({ key }) => key}
            empty={<Empty title="No document matches the filter" />}
          />
        )}
      </Shown>
    </form>
  );
}
