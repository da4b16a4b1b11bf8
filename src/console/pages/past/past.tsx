/** The past of databases: state at a moment, differences, entries, verification, and the audit log. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { mayUseData } from '../../api/session.js';
import { PageHead } from '../../parts/page-head.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Tab, Tabs, useTab } from '../../parts/tabs.js';
import { Verify } from '../../parts/verify.js';
import { AuditTab } from './audit-tab.js';
import { DifferenceTab } from './difference-tab.js';
import { EntriesTab } from './entries-tab.js';
import type { OneDatabase } from './moments.js';
import { StateTab } from './state-tab.js';

const AUDIT: Tab = { id: 'audit', label: 'Audit log' };
const OF_DATABASES: readonly Tab[] = [
  { id: 'state', label: 'State' },
  { id: 'difference', label: 'Difference' },
  { id: 'entries', label: 'Entries' },
  { id: 'verify', label: 'Verify' },
];

export default function PastPage() {
  const tabs = mayUseData.value ? [...OF_DATABASES, AUDIT] : [AUDIT];
  const tab = useTab(tabs);
  return (
    <>
      <PageHead title="Time machine" />
      <Tabs label="Ways into the past" tabs={tabs} />
      {tab === 'audit' ? <AuditTab /> : <OfDatabase tab={tab} />}
    </>
  );
}

function OfDatabase({ tab }: { readonly tab: string }) {
  const [query, set] = usePageQuery();
  const asked = useAsk('databases', () => manage('GET /v2/kv/databases', { query: { credentials: 'hide' } }));
  return (
    <Shown asked={asked}>
      {(databases) => {
        const database = databases.find(({ database_id }) => database_id === query.database) ?? databases[0];
        if (database === undefined) return <Empty title="There is no database yet" />;
        return (
          <div class="stack">
            <label class="field no-print">
              <span>Database</span>
              <select
                value={database.database_id}
                onChange={({ currentTarget }) => set({ database: currentTarget.value })}
              >
                {databases.map(({ database_id, database_name }) => (
                  <option key={database_id} value={database_id}>
                    {database_name}
                  </option>
                ))}
              </select>
            </label>
            <DatabaseTab key={database.database_id} tab={tab} database={database} />
          </div>
        );
      }}
    </Shown>
  );
}

function DatabaseTab({ tab, database }: { readonly tab: string; readonly database: OneDatabase }) {
  switch (tab) {
    case 'difference':
      return <DifferenceTab database={database} />;
    case 'entries':
      return <EntriesTab database={database} />;
    case 'verify':
      return <Verify path={`/v2/admin/databases/${database.database_id}/verify`} subject={database.database_name} />;
    default:
      return <StateTab database={database} />;
  }
}
