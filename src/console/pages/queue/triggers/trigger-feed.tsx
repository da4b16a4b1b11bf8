/** Records of a trigger in a dialog: those since its start, or since a moment, page by page. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { Code } from '../../../parts/code.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice } from '../../../parts/field.js';
import { Empty, Shown } from '../../../parts/states.js';
import { type Column, Paging, Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { type Trigger, triggerName } from './trigger-words.js';

type TriggerRecord = Schemas['TriggerRecord'];

const A_PAGE = 20;
const HOUR_MS = 3_600_000;
const SINCE: readonly (readonly [hours: string, label: string])[] = [
  ['1', 'The last hour'],
  ['24', 'The last day'],
  ['', 'The start of the trigger'],
];

export interface TriggerFeedProps {
  readonly account: string;
  readonly trigger: Trigger;
  onClose(): void;
}

export function TriggerFeed({ account, trigger, onClose }: TriggerFeedProps) {
  const { triggerId: id } = trigger;
  const since = useSignal('1');
  const cursor = useSignal<{ readonly since: string; readonly at: string } | undefined>(undefined);
  // A cursor is of the list that it came from.
  const at = cursor.value?.since === since.value ? cursor.value.at : undefined;
  const asked = useAsk(`feed ${id} ${since.value} ${at}`, (signal) => {
    const from = since.value === '' ? undefined : new Date(Date.now() - Number(since.value) * HOUR_MS).toISOString();
    const query = { count: A_PAGE, ...(at === undefined ? { from } : { cursor: at }) };
    return ofQueue(account, 'GET /v2/triggers/{id}/feed', { path: { id }, query, signal });
  });
  return (
    <Dialog title={`Records of ${triggerName(trigger)}`} isLarge onClose={onClose}>
      <Choice label="Since" value={since} options={SINCE} />
      <Shown asked={asked} rows={5}>
        {({ records, cursor: next }) => (
          <>
            <Table
              label="Records"
              columns={COLUMNS}
              rows={records}
              idOf={({ id: record }) => record}
              empty={
                <Empty title="No further records">The next change that the trigger selects is the next record.</Empty>
              }
            />
            <Paging
              text="oldest first"
              onFirst={
                at === undefined
                  ? undefined
                  : () => {
                      cursor.value = undefined;
                    }
              }
              onNext={
                records.length < A_PAGE
                  ? undefined
                  : () => {
                      cursor.value = { since: since.value, at: next };
                    }
              }
            />
          </>
        )}
      </Shown>
    </Dialog>
  );
}

const COLUMNS: readonly Column<TriggerRecord>[] = [
  { title: 'Time', cell: ({ time }) => <Time at={Date.parse(time)} as="past" /> },
  { title: 'Change', cell: ({ event }) => event },
  {
    title: 'Key',
    cell: ({ key }) => (
      <code class="wrap-anywhere" dir="auto">
        {typeof key === 'string' ? key : JSON.stringify(key)}
      </code>
    ),
  },
  {
    title: 'Commands',
    cell: ({ commands, commandBytes }) =>
      commands === undefined ? (
        `${commandBytes} bytes`
      ) : (
        <details>
          <summary>{commands.length}</summary>
          <Code text={commands.map((words) => JSON.stringify(words)).join('\n')} />
        </details>
      ),
  },
];
