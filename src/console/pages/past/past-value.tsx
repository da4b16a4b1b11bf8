/** A past value, made readable from the commands that create it. */
import { Code, pretty } from '../../parts/code.js';
import { type Column, Table } from '../../parts/table.js';
import { type PastLook, type PastText, shownText } from './moments.js';

type Words = readonly PastText[];

/** For each type: its commands, and the names of the words that form one item after the key. */
const SHAPES: Readonly<Record<string, readonly [names: readonly string[], titles: readonly string[]]>> = {
  hash: [
    ['HSET', 'HMSET'],
    ['Field', 'Value'],
  ],
  list: [['RPUSH'], ['Element']],
  set: [['SADD'], ['Member']],
  zset: [['ZADD'], ['Score', 'Member']],
};

const MAX_ROWS = 200;

export function PastValue({ value }: { readonly value: PastLook }) {
  const { type, commands = [] } = value;
  const [first] = commands;
  if (type === 'string' && first?.[0] === 'SET') return <Code text={pretty(shownText(first[2] ?? ''))} />;
  const shape = SHAPES[type];
  if (shape === undefined) return <Commands commands={commands} />;
  const [names, titles] = shape;
  const rows = commands
    .filter(([name]) => names.includes(String(name)))
    .flatMap((words) => rowsOf(words, titles.length));
  const columns = titles.map(
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
  readonly words: Words;
}

function rowsOf(words: Words, width: number): Row[] {
  const rows: Row[] = [];
  for (let at = 2; at + width <= words.length; at += width) {
    rows.push({ id: `${at} ${shownText(words[at] ?? '')}`, words: words.slice(at, at + width) });
  }
  return rows;
}

function Commands({ commands }: { readonly commands: readonly Words[] }) {
  return <Code text={commands.map(lineOf).join('\n')} />;
}

/** As typed in a command line. */
export function lineOf(words: Words): string {
  return words.map((word) => quoted(shownText(word))).join(' ');
}

function quoted(text: string): string {
  return /^[\w.:/@+*~-]+$/.test(text) ? text : JSON.stringify(text);
}
