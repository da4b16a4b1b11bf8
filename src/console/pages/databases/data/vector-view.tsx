/** A vector index: its facts, and the vectors nearest to one of its own. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../api/ask.js';
import { CallError } from '../../../api/call.js';
import { shownOf, wordOf } from '../../../api/kv.js';
import type { Word } from '../../../api/kv-bytes.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { Button } from '../../../parts/button.js';
import { asked } from '../../../parts/dialog.js';
import { TextField } from '../../../parts/field.js';
import { whole } from '../../../parts/format.js';
import { Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { doing, failed } from '../../../parts/toast.js';
import { done } from './collections/collection.js';
import type { TypeViewProps } from './key-record.js';

const SHOWN_NEIGHBOURS = 20;

interface Neighbour {
  readonly id: string;
  readonly score: string;
}

const COLUMNS: readonly Column<Neighbour>[] = [
  { title: 'Id', cell: ({ id }) => <code class="wrap-anywhere">{shownOf(id)}</code> },
  { title: 'Score', isNumber: true, cell: ({ score }) => Number(score).toFixed(6) },
];

export function VectorView({ id, name, onChanged }: TypeViewProps) {
  const key = wordOf(name);
  const facts = useAsk(`${id} ${name}`, () => factsOf(id, key));
  const sought = useSignal('');
  const found = useSignal<readonly Neighbour[] | undefined>(undefined);
  const search = async (event: Event) => {
    event.preventDefault();
    try {
      found.value = await nearestTo(id, key, sought.value);
    } catch (error) {
      failed(error);
    }
  };
  const remove = async () => {
    const isSure = await asked({ title: 'Take it out?', text: sought.value, action: 'Take it out', isDangerous: true });
    const work = () => done(id, [['VECTOR.DEL', key, sought.value]]);
    if (!isSure || !(await doing(work, 'It is taken out.'))) return;
    found.value = undefined;
    facts.reload();
    onChanged();
  };
  return (
    <div class="stack">
      <Shown asked={facts}>
        {({ dimension, metric, count }) => (
          <dl class="facts">
            <dt>Vectors</dt>
            <dd>{whole(count)}</dd>
            <dt>Dimension</dt>
            <dd>{whole(dimension)}</dd>
            <dt>Metric</dt>
            <dd>{metric}</dd>
          </dl>
        )}
      </Shown>
      <form class="stack tight" onSubmit={search}>
        <TextField
          label="Id of a vector"
          value={sought}
          isRequired
          hint="Its nearest vectors are listed, with scores from 0 to 1."
        />
        <div class="row">
          <button type="submit" class="button">
            Find the nearest
          </button>
          {mayChangeDatabases.value && found.value !== undefined && (
            <Button onClick={() => void remove()}>Take it out</Button>
          )}
        </div>
      </form>
      {found.value !== undefined && (
        <Table label="Nearest vectors" columns={COLUMNS} rows={found.value} idOf={(neighbour) => neighbour.id} />
      )}
    </div>
  );
}

async function factsOf(id: string, key: Word) {
  const [info, count] = await done(id, [
    ['VECTOR.INFO', key],
    ['VECTOR.COUNT', key],
  ]);
  const [, dimension = 0, , metric = ''] = (info ?? []) as readonly (string | number)[];
  return { dimension: Number(dimension), metric: String(metric), count: Number(count) };
}

/** @throws CallError when the index has no such id */
async function nearestTo(id: string, key: Word, vectorId: string): Promise<readonly Neighbour[]> {
  const [elements] = await done(id, [['VECTOR.GET', key, vectorId]]);
  if (!Array.isArray(elements)) throw new CallError(404, 'The index has no vector of that id.');
  const words = elements.map(String);
  const [reply] = await done(id, [['VECTOR.QUERY', key, 'TOPK', SHOWN_NEIGHBOURS, 'VALUES', words.length, ...words]]);
  return (reply as readonly (readonly [string, string])[]).map(([found, score]) => ({ id: found, score }));
}
