/** A past value, made readable from the commands that create it. */
import { Code, pretty } from '../../parts/code.js';
import { type Column, Table } from '../../parts/table.js';
import { type PastLook, shownText } from './moments.js';
import { itemsOf, lineOf, type PastWords, SHAPES } from './value-shapes.js';

const MAX_ROWS = 200;

export function PastValue({ value }: { readonly value: PastLook }) {
  const { type, commands = [] } = value;
  const [first] = commands;
  if (type === 'string' && first?.[0] === 'SET') return <Code text={pretty(shownText(first[2] ?? ''))} />;
  const shape = SHAPES[type];
  if (shape === undefined) return <Code text={commands.map(lineOf).join('\n')} />;
  const rows = itemsOf(value).map((words, at) => ({ id: `${at} ${shownText(words[0] ?? '')}`, words }));
  const columns = shape[1].map(
    (title, at): Column<Row> => ({ title, cell: ({ words }) => <span dir="auto">{shownText(words[at] ?? '')}</span> }),
  );
  return (
    <div class="stack tight">
      <Table label="Value" columns={columns} rows={rows.slice(0, MAX_ROWS)} idOf={({ id }) => id} />
      {rows.length > MAX_ROWS && <p class="small muted">{`The first ${MAX_ROWS} of ${rows.length}.`}</p>}
    </div>
  );
}

interface Row {
  readonly id: string;
  readonly words: PastWords;
}
