/** One group of a stream: its consumers, and the entries that were delivered and not acknowledged. */
import { useAsk } from '../../../../api/ask.js';
import { command, type Reply, shownOf, wordOf } from '../../../../api/kv.js';
import type { Word } from '../../../../api/kv-bytes.js';
import { mayChangeDatabases } from '../../../../api/session.js';
import { SmallButton, SmallDangerButton } from '../../../../parts/button.js';
import { duration, whole } from '../../../../parts/format.js';
import { Shown } from '../../../../parts/states.js';
import { type Column, Table } from '../../../../parts/table.js';
import { doing } from '../../../../parts/toast.js';
import { type InfoRecord, infoRecords } from './info-records.js';

export interface GroupReadersProps {
  readonly id: string;
  readonly stream: Word;
  /** A binary string. */
  readonly group: string;
}

/** The oldest pending entries; others follow after these are acknowledged. */
const SHOWN_PENDING = 100;
const REFRESH_MS = 5_000;

type Pending = readonly [entry: string, consumer: string, idleMs: number, deliveries: number];

export function GroupReaders({ id, stream, group }: GroupReadersProps) {
  const asked = useAsk(
    `readers ${id} ${JSON.stringify(stream)} ${group}`,
    () => readersOf(id, stream, group),
    REFRESH_MS,
  );
  const change = async (done: string, ...words: readonly Word[]) => {
    const [name = '', ...rest] = words;
    await doing(() => command(id, name, ...rest), done);
    asked.reload();
  };
  return (
    <div class="stack tight">
      <h3 class="wrap-anywhere">Readers of {shownOf(group)}</h3>
      <Shown asked={asked}>
        {({ consumers, pending }) => (
          <>
            <Table
              label="Consumers"
              columns={consumerColumns((consumer) =>
                change('It is deleted.', 'XGROUP', 'DELCONSUMER', stream, wordOf(group), wordOf(consumer)),
              )}
              rows={consumers}
              idOf={({ name }) => String(name)}
              empty={<p class="empty">No consumer has read yet.</p>}
            />
            <Table
              label="Pending entries"
              columns={pendingColumns((entry) => change('It is acknowledged.', 'XACK', stream, wordOf(group), entry))}
              rows={pending}
              idOf={([entry]) => entry}
              empty={<p class="empty">All delivered entries are acknowledged.</p>}
            />
          </>
        )}
      </Shown>
    </div>
  );
}

async function readersOf(id: string, stream: Word, group: string) {
  const name = wordOf(group);
  const consumers: Reply = await command(id, 'XINFO', 'CONSUMERS', stream, name);
  const pending = await command(id, 'XPENDING', stream, name, '-', '+', SHOWN_PENDING);
  return { consumers: infoRecords(consumers), pending: pending as readonly Pending[] };
}

function consumerColumns(remove: (consumer: string) => Promise<void>): readonly Column<InfoRecord>[] {
  const columns: readonly Column<InfoRecord>[] = [
    { title: 'Consumer', cell: ({ name }) => <code class="wrap-anywhere">{shownOf(String(name))}</code> },
    { title: 'Pending', isNumber: true, cell: ({ pending }) => whole(Number(pending)) },
    { title: 'Idle', isNumber: true, cell: ({ idle }) => duration(Number(idle)) },
  ];
  if (!mayChangeDatabases.value) return columns;
  return [
    ...columns,
    {
      title: 'Actions',
      cell: ({ name }) => <SmallDangerButton onClick={() => void remove(String(name))}>Delete</SmallDangerButton>,
    },
  ];
}

function pendingColumns(acknowledge: (entry: string) => Promise<void>): readonly Column<Pending>[] {
  const columns: readonly Column<Pending>[] = [
    { title: 'Entry', cell: ([entry]) => <code>{entry}</code> },
    { title: 'At', cell: ([, consumer]) => <code class="wrap-anywhere">{shownOf(consumer)}</code> },
    { title: 'For', isNumber: true, cell: ([, , idleMs]) => duration(idleMs) },
    { title: 'Deliveries', isNumber: true, isWideOnly: true, cell: ([, , , deliveries]) => whole(deliveries) },
  ];
  if (!mayChangeDatabases.value) return columns;
  return [
    ...columns,
    {
      title: 'Actions',
      cell: ([entry]) => <SmallButton onClick={() => void acknowledge(entry)}>Acknowledge</SmallButton>,
    },
  ];
}
