/** The overview of a database: statistics, record, labels and settings. */
import { mayChangeDatabases, mayUseData } from '../../../api/session.js';
import { LabelsCard } from '../../../parts/labels.js';
import type { DatabaseTabProps } from '../records.js';
import { DatabaseRecord } from './database-record.js';
import { Deletion } from './deletion.js';
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
