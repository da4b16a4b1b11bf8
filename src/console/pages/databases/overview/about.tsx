/** The overview of a database: statistics, record, labels and settings. */
import { useLocation } from 'preact-iso/router';
import { manage } from '../../../api/call.js';
import { mayChangeDatabases, mayUseData } from '../../../api/session.js';
import { DangerButton } from '../../../parts/button.js';
import { asked } from '../../../parts/dialog.js';
import { LabelsCard } from '../../../parts/labels.js';
import { doing } from '../../../parts/toast.js';
import type { DatabaseTabProps, DatabaseView } from '../records.js';
import { DatabaseRecord } from './database-record.js';
import { PartitionsCard } from './partitions.js';
import { SettingsCard } from './settings.js';
import { StatisticsCard } from './statistics.js';

export function OverviewTab({ database, onChanged }: DatabaseTabProps) {
  return (
    <div class="stack">
      <StatisticsCard id={database.database_id} />
      <DatabaseRecord database={database} />
      <LabelsCard kind="database" id={database.database_id} />
      {mayChangeDatabases.value && <SettingsCard database={database} onChanged={onChanged} />}
      {mayChangeDatabases.value && mayUseData.value && <PartitionsCard database={database} onChanged={onChanged} />}
      {mayChangeDatabases.value && mayUseData.value && <Deletion database={database} />}
    </div>
  );
}

/** Deletes a database after its name was typed. */
function Deletion({ database }: { readonly database: DatabaseView }) {
  const { route } = useLocation();
  const { database_id: id, database_name: name } = database;
  const remove = async () => {
    const isSure = await asked({
      title: 'Delete this database?',
      text: 'All its data and backups are deleted, and its tokens are refused from then on.',
      action: 'Delete it',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    const isDone = await doing(() => manage('DELETE /v2/kv/database/{id}', { path: { id } }), `${name} is deleted.`);
    if (isDone) route('/console/databases');
  };
  return (
    <section class="card row between">
      <div>
        <h2>Delete</h2>
        <p class="muted">With all that it holds, and its backups. It cannot be taken back.</p>
      </div>
      <DangerButton onClick={() => void remove()}>Delete the database</DangerButton>
    </section>
  );
}
