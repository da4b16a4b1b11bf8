/** Backups of a database: creating, restoring, deleting. */
import type { Operations } from '#api';
import { useAsk } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { mayChangeDatabases, mayUseData } from '../../../api/session.js';
import { Badge, StateBadge } from '../../../parts/badge.js';
import { SmallButton, SmallDangerButton } from '../../../parts/button.js';
import { CodeText } from '../../../parts/code-text.js';
import { asked } from '../../../parts/dialog.js';
import { bytes } from '../../../parts/format.js';
import { Empty, Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { doing } from '../../../parts/toast.js';
import { NameForm } from '../name-form.js';
import type { DatabaseTabProps } from '../records.js';

type Backup = Operations['GET /v2/kv/list-backup/{id}'][number];

const REFRESH_MS = 5_000;

export function BackupsTab({ database, onChanged }: DatabaseTabProps) {
  const id = database.database_id;
  const list = useAsk(
    `backups ${id}`,
    (signal) => manage('GET /v2/kv/list-backup/{id}', { path: { id }, signal }),
    REFRESH_MS,
  );
  const isAllowed = mayChangeDatabases.value && mayUseData.value;
  const columns = isAllowed ? [...COLUMNS, actionsOf(database, list.reload, onChanged)] : COLUMNS;
  return (
    <div class="stack">
      {isAllowed && <NewBackup id={id} onMade={list.reload} />}
      <Shown asked={list}>
        {(backups) => (
          <Table
            label="Backups"
            columns={columns}
            rows={backups}
            idOf={(backup) => backup.backup_id}
            empty={
              <Empty title="There is no backup yet">
                Keep a moment before a risky change; a daily one is switched on in the overview.
              </Empty>
            }
          />
        )}
      </Shown>
      <p class="small muted">
        <CodeText text="They lie in the installation. A file of one is loaded by `redis-cli --pipe`; `millrace backup create --to DIRECTORY` copies the whole installation with all of them." />
      </p>
    </div>
  );
}

const COLUMNS: readonly Column<Backup>[] = [
  {
    title: 'Name',
    cell: ({ name, daily_backup }) => (
      <span class="row">
        <span class="wrap-anywhere" dir="auto">
          {name}
        </span>
        {daily_backup === 'true' && <Badge>daily</Badge>}
      </span>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: 'Size',
    isNumber: true,
    isWideOnly: true,
    cell: ({ backup_size }) => (backup_size === 0 ? '–' : bytes(backup_size)),
  },
  { title: 'Made', isWideOnly: true, cell: ({ creation_time }) => <Time at={creation_time * 1_000} as="past" /> },
];

function actionsOf(
  { database_id: id, database_name: name }: DatabaseTabProps['database'],
  reload: () => void,
  onChanged: () => void,
): Column<Backup> {
  const restore = async (backup: Backup) => {
    const isSure = await asked({
      title: `Put “${backup.name}” back?`,
      text: 'It takes the place of all that the database holds now. Keep a backup of that first if it matters.',
      action: 'Put it back',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    const body = { backup_id: backup.backup_id };
    await doing(() => manage('POST /v2/kv/restore-backup/{id}', { path: { id }, body }), `${name} is restored.`);
    onChanged();
  };
  const remove = async ({ backup_id, name: called }: Backup) => {
    const isSure = await asked({
      title: `Delete “${called}”?`,
      text: 'It cannot be put back any more.',
      action: 'Delete',
      isDangerous: true,
    });
    if (!isSure) return;
    await doing(
      () => manage('DELETE /v2/kv/delete-backup/{id}/{backup_id}', { path: { id, backup_id } }),
      `${called} is deleted.`,
    );
    reload();
  };
  return {
    title: 'Actions',
    cell: (backup) => (
      <span class="row">
        {backup.state === 'completed' && <SmallButton onClick={() => void restore(backup)}>Restore</SmallButton>}
        {backup.state === 'completed' && (
          <a
            class="button small"
            href={`/v2/admin/databases/${id}/backup?backup_id=${backup.backup_id}`}
            download={`${name} ${backup.name}.aof`}
          >
            Download
          </a>
        )}
        {backup.state !== 'pending' && (
          <SmallDangerButton onClick={() => void remove(backup)}>Delete</SmallDangerButton>
        )}
      </span>
    ),
  };
}

function NewBackup({ id, onMade }: { readonly id: string; onMade(): void }) {
  const make = (name: string) =>
    doing(() => manage('POST /v2/kv/create-backup/{id}', { path: { id }, body: { name } }), 'The backup is under way.');
  return (
    <NameForm
      label="Name of a new backup"
      placeholder="before the move"
      action="Keep a backup"
      make={make}
      onMade={onMade}
    />
  );
}
