/** Connections to the process that answers. */
import { useAsk } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { CodeText } from '../../../parts/code-text.js';
import { duration } from '../../../parts/format.js';
import { Empty, Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { clientLine } from '../connect/addresses.js';
import type { DatabaseView } from '../records.js';

const REFRESH_MS = 5_000;

/** The fields of CLIENT LIST. */
interface Connection {
  readonly id?: number;
  readonly addr?: string;
  readonly name?: string;
  readonly user?: string;
  readonly age?: number;
  readonly idle?: number;
  readonly cmd?: string;
}

const COLUMNS: readonly Column<Connection>[] = [
  { title: 'Id', isNumber: true, cell: ({ id }) => id },
  { title: 'Address', cell: ({ addr }) => addr },
  { title: 'Name', isWideOnly: true, cell: ({ name = '' }) => <span dir="auto">{name === '' ? '–' : name}</span> },
  { title: 'User', isWideOnly: true, cell: ({ user }) => <span dir="auto">{user}</span> },
  { title: 'Last command', cell: ({ cmd }) => <code>{cmd}</code> },
  { title: 'For', isNumber: true, isWideOnly: true, cell: ({ age = 0 }) => duration(age * 1_000) },
  { title: 'Idle', isNumber: true, cell: ({ idle = 0 }) => duration(idle * 1_000) },
];

export function Connections({ database }: { readonly database: DatabaseView }) {
  const id = database.database_id;
  const asked = useAsk(
    `clients ${id}`,
    (signal) => manage('GET /v2/admin/databases/{id}/clients', { path: { id }, signal }),
    REFRESH_MS,
  );
  return (
    <div class="stack tight">
      <Shown asked={asked}>
        {({ clients, more }) => (
          <>
            <Table
              label="Connections"
              columns={COLUMNS}
              rows={clients as readonly Connection[]}
              idOf={(connection) => String(connection.id)}
              empty={<Empty title="No connections" command={`${clientLine(database)} PING`} />}
            />
            {more && <p class="small muted">There are more than are shown.</p>}
          </>
        )}
      </Shown>
      <p class="small muted">
        <CodeText text="Connections of the native protocol to this process; REST requests are not listed. `CLIENT KILL ID …` closes one." />
      </p>
    </div>
  );
}
