/** One database, with a tab each for overview, connection, data and actions. */
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { type Asked, useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayUseData } from '../../api/session.js';
import { StateBadge } from '../../parts/badge.js';
import { CodeText } from '../../parts/code-text.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { Tabs, useTab } from '../../parts/tabs.js';
import { failed } from '../../parts/toast.js';
import { BackupsTab } from './backups/backups.js';
import { BranchesTab } from './branches/branches.js';
import { ConnectTab } from './connect/connect.js';
import { DiagnosisTab } from './diagnosis/diagnosis.js';
import { OverviewTab } from './overview/about.js';
import type { DatabaseView } from './records.js';
import { UsersTab } from './users/users.js';

const DataBrowser = lazy(() => import('./data/data-browser.js'));
const CommandLine = lazy(() => import('./line/command-line.js'));

const REFRESH_MS = 30_000;

const ABOUT = { id: 'overview', label: 'Overview' } as const;
const TABS = [
  ABOUT,
  { id: 'connect', label: 'Connect' },
  { id: 'data', label: 'Data' },
  { id: 'line', label: 'Command line' },
  { id: 'diagnosis', label: 'Diagnosis' },
  { id: 'backups', label: 'Backups' },
  { id: 'branches', label: 'Branches' },
  { id: 'users', label: 'Access control' },
] as const;
/** Tabs for users without access to data. */
const TABS_WITHOUT_DATA = [ABOUT, TABS[5]] as const;

export default function DatabasePage({ id = '' }: { readonly id?: string }) {
  const asked = useAsk(id, (signal) => manage('GET /v2/kv/database/{id}', { path: { id }, signal }), REFRESH_MS);
  const { data } = asked;
  const tabs = mayUseData.value ? TABS : TABS_WITHOUT_DATA;
  const tab = useTab(tabs);
  const badge = data === undefined ? undefined : <StateBadge state={data.state} />;
  return (
    <>
      <PageHead
        title={data?.database_name ?? 'Database'}
        crumbs={[['/console/databases', 'Databases']]}
        badge={badge}
      />
      <Tabs label="Parts of the database" tabs={tabs} />
      {data?.state === 'suspended' && <Suspended />}
      <ErrorBoundary onError={failed}>
        {/* The data tab does not need the database's record, so it does not wait for it. */}
        {tab === 'data' ? (
          <DataBrowser database={id} />
        ) : (
          <Shown asked={asked}>{(database) => <TabOf key={tab} tab={tab} database={database} asked={asked} />}</Shown>
        )}
      </ErrorBoundary>
    </>
  );
}

interface TabProps {
  readonly tab: string;
  readonly database: DatabaseView;
  readonly asked: Asked<DatabaseView>;
}

function TabOf({ tab, database, asked }: TabProps) {
  switch (tab) {
    case 'connect':
      return <ConnectTab database={database} onChanged={asked.reload} />;
    case 'line':
      return <CommandLine database={database} />;
    case 'diagnosis':
      return <DiagnosisTab database={database} />;
    case 'backups':
      return <BackupsTab database={database} onChanged={asked.reload} />;
    case 'branches':
      return <BranchesTab database={database} onChanged={asked.reload} />;
    case 'users':
      return <UsersTab database={database} />;
    default:
      return <OverviewTab database={database} onChanged={asked.reload} />;
  }
}

function Suspended() {
  return (
    <p class="note warn">
      <span>
        <CodeText text="This database is suspended: clients are refused, and its data is kept. `millrace db activate` ends this." />
      </span>
    </p>
  );
}
