/** Slow commands, the newest first. */
import { useAsk } from '../../../api/ask.js';
import { command, type Reply, shownOf } from '../../../api/kv.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { Button } from '../../../parts/button.js';
import { CodeText } from '../../../parts/code-text.js';
import { duration } from '../../../parts/format.js';
import { Empty, Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { doing } from '../../../parts/toast.js';

const REFRESH_MS = 10_000;
const SHOWN_ENTRIES = 128;
const SHOWN_CHARACTERS = 400;

interface SlowCommand {
  readonly id: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly words: string;
  readonly client: string;
}

const COLUMNS: readonly Column<SlowCommand>[] = [
  { title: 'When', cell: ({ atMs }) => <Time at={atMs} as="past" /> },
  { title: 'Took', isNumber: true, cell: ({ tookMs }) => duration(tookMs) },
  {
    title: 'Command',
    cell: ({ words }) => (
      <code class="wrap-anywhere" dir="auto">
        {words}
      </code>
    ),
  },
  { title: 'Client', isWideOnly: true, cell: ({ client }) => client },
];

export function SlowLog({ id }: { readonly id: string }) {
  const asked = useAsk(
    `slow ${id}`,
    async () => entriesOf(await command(id, 'SLOWLOG', 'GET', SHOWN_ENTRIES)),
    REFRESH_MS,
  );
  const empty = async () => {
    await doing(() => command(id, 'SLOWLOG', 'RESET'), 'The slow log is empty.');
    asked.reload();
  };
  return (
    <div class="stack">
      <div class="row between">
        <p class="muted">
          <CodeText text="Commands that took longer than `slowlog-log-slower-than` microseconds (10,000 by default)." />
        </p>
        {mayChangeDatabases.value && <Button onClick={() => void empty()}>Empty it</Button>}
      </div>
      <Shown asked={asked}>
        {(entries) => (
          <Table
            label="Slow commands"
            columns={COLUMNS}
            rows={entries}
            idOf={(entry) => entry.id}
            empty={<Empty title="No slow commands" command="CONFIG SET slowlog-log-slower-than 1000" />}
          />
        )}
      </Shown>
    </div>
  );
}

function entriesOf(reply: Reply): readonly SlowCommand[] {
  if (!Array.isArray(reply)) return [];
  return (reply as readonly (readonly Reply[])[]).map(([id, seconds, micros, words, address, name]) => {
    const text = (Array.isArray(words) ? words : []).map((word: Reply) => shownOf(String(word))).join(' ');
    return {
      id: String(id),
      atMs: Number(seconds) * 1_000,
      tookMs: Number(micros) / 1_000,
      words: text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text,
      client: [address, name].filter((word) => word !== '' && word !== '0.0.0.0:0').join(' ') || 'REST',
    };
  });
}
