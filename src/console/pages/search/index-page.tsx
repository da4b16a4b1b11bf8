/** One index: its items, queries, connection, usage and settings. */
import type { ComponentChildren } from 'preact';
import type { Asked } from '../../api/ask.js';
import { mayChangeIndexes, mayUseData } from '../../api/session.js';
import { PageHead } from '../../parts/page-head.js';
import type { Snippet } from '../../parts/snippets.js';
import { Shown } from '../../parts/states.js';
import { type Tab, Tabs, useTab } from '../../parts/tabs.js';
import { ConnectIndex } from './connect.js';
import { useContent } from './content.js';
import { Items } from './items.js';
import type { IndexContent, IndexPlane, IndexRecord } from './plane.js';
import { IndexSettings } from './settings.js';
import { IndexStatistics } from './statistics.js';

export interface IndexPageProps<Row extends IndexRecord> {
  readonly plane: IndexPlane;
  readonly asked: Asked<Row>;
  badge(index: Row): ComponentChildren;
  query(index: Row, content: Partial<IndexContent>): ComponentChildren;
  /** @param part the first one. */
  snippetsFor(url: string, token: string, part: string): readonly Snippet[];
}

export function IndexPage<Row extends IndexRecord>({ plane, asked, badge, ...parts }: IndexPageProps<Row>) {
  const { data } = asked;
  return (
    <>
      <PageHead
        title={data?.name ?? plane.title}
        crumbs={[[plane.href, plane.title]]}
        badge={data !== undefined && badge(data)}
      />
      <Shown asked={asked} rows={6}>
        {(database) => <OneIndex plane={plane} database={database} onChanged={asked.reload} {...parts} />}
      </Shown>
    </>
  );
}

interface OneProps<Row extends IndexRecord> extends Pick<IndexPageProps<Row>, 'plane' | 'query' | 'snippetsFor'> {
  readonly database: Row;
  onChanged(): void;
}

function OneIndex<Row extends IndexRecord>({ plane, database, query, snippetsFor, onChanged }: OneProps<Row>) {
  const content = useContent(plane, mayUseData.value ? database.id : undefined);
  const items = plane.item === 'vector' ? 'Vectors' : 'Documents';
  const tabs: Tab[] = [
    ...(mayUseData.value
      ? [
          { id: 'documents', label: items, count: content.data?.items },
          { id: 'query', label: 'Query' },
        ]
      : []),
    { id: 'connect', label: 'Connect' },
    { id: 'statistics', label: 'Statistics' },
    ...(mayChangeIndexes.value && mayUseData.value ? [{ id: 'settings', label: 'Settings' }] : []),
  ];
  const tab = useTab(tabs);
  const part = content.data?.parts[0]?.name ?? plane.firstPart;
  return (
    <>
      <Tabs label={plane.title} tabs={tabs} keep={['index']} />
      {tab === 'documents' && <Items plane={plane} database={database} content={content} />}
      {tab === 'query' && query(database, content.data ?? {})}
      {tab === 'connect' && (
        <ConnectIndex
          plane={plane}
          database={database}
          snippetsFor={(url, token) => snippetsFor(url, token, part)}
          onChanged={onChanged}
        />
      )}
      {tab === 'statistics' && <IndexStatistics plane={plane} id={database.id} />}
      {tab === 'settings' && (
        <IndexSettings plane={plane} database={database} content={content} onChanged={onChanged} />
      )}
    </>
  );
}
