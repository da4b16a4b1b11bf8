/** One search database: documents, queries, connection, usage and settings. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayChange, mayUseData } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { type Tab, Tabs, useTab } from '../../parts/tabs.js';
import { ConnectIndex } from './connect.js';
import { Documents } from './documents.js';
import { useHeld } from './held.js';
import { QueryTab } from './query-tab.js';
import type { SearchDatabase } from './search-databases.js';
import { IndexSettings } from './settings.js';
import { IndexStatistics } from './statistics.js';

export default function SearchIndex({ id }: { readonly id: string }) {
  const asked = useAsk(`search ${id}`, (signal) => manage('GET /v2/search/{id}', { path: { id }, signal }));
  const { data } = asked;
  return (
    <>
      <PageHead
        title={data?.name ?? 'Search database'}
        crumbs={[['/console/search', 'Search']]}
        badge={data !== undefined && <Badge>{data.type}</Badge>}
      />
      <Shown asked={asked} rows={6}>
        {(database) => <OneDatabase database={database} onChanged={asked.reload} />}
      </Shown>
    </>
  );
}

interface OneProps {
  readonly database: SearchDatabase;
  onChanged(): void;
}

function OneDatabase({ database, onChanged }: OneProps) {
  const held = useHeld(mayUseData.value ? database.id : undefined);
  const tabs: Tab[] = [
    ...(mayUseData.value
      ? [
          { id: 'documents', label: 'Documents', count: held.data?.documents },
          { id: 'query', label: 'Query' },
        ]
      : []),
    { id: 'connect', label: 'Connect' },
    { id: 'statistics', label: 'Statistics' },
    ...(mayChange.value && mayUseData.value ? [{ id: 'settings', label: 'Settings' }] : []),
  ];
  const tab = useTab(tabs);
  return (
    <>
      <Tabs label="Search database" tabs={tabs} keep={['index']} />
      {tab === 'documents' && <Documents database={database} held={held} />}
      {tab === 'query' && <QueryTab database={database} held={held.data ?? {}} />}
      {tab === 'connect' && (
        <ConnectIndex database={database} index={held.data?.indexes[0]?.name} onChanged={onChanged} />
      )}
      {tab === 'statistics' && <IndexStatistics id={database.id} />}
      {tab === 'settings' && <IndexSettings database={database} held={held} onChanged={onChanged} />}
    </>
  );
}
