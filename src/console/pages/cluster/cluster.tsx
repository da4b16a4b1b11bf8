/** Processes, shards, NATS servers, streams and their problems, updated live. */
import { isOperator } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { Icon } from '../../parts/icon.js';
import { PageHead } from '../../parts/page-head.js';
import { Empty, Failure, Loading } from '../../parts/states.js';
import { type Tab, Tabs, useTab } from '../../parts/tabs.js';
import { Verify } from '../../parts/verify.js';
import { type ClusterStatus, useCluster } from './cluster-status.js';
import { Processes } from './processes.js';
import { Shards } from './shards.js';
import { Servers, Streams } from './stores.js';

export default function ClusterPage() {
  if (!isOperator.value) {
    return (
      <Empty title="This page is for operators of the installation">
        <span>People of its first account see its processes, shards and servers.</span>
      </Empty>
    );
  }
  return <Installation />;
}

function Installation() {
  const { data, error, live } = useCluster();
  return (
    <>
      <PageHead title="Cluster" badge={<Badge tone={live === 'live' ? 'good' : 'warn'}>{live}</Badge>}>
        {data !== undefined && (
          <span class="small muted">
            {data.clusterId}
            {data.format !== undefined && ` · format level ${data.format}`}
          </span>
        )}
      </PageHead>
      {error !== undefined && <Failure error={error} />}
      {data === undefined ? error === undefined && <Loading rows={8} /> : <Status status={data} />}
    </>
  );
}

function Status({ status }: { readonly status: ClusterStatus }) {
  const tabs: readonly Tab[] = [
    { id: 'processes', label: 'Processes', count: status.processes.length },
    { id: 'shards', label: 'Shards', count: status.shards.length },
    { id: 'servers', label: 'NATS servers', count: status.servers.length },
    { id: 'streams', label: 'Streams', count: status.streams.length },
    { id: 'verify', label: 'Verify' },
  ];
  const tab = useTab(tabs);
  return (
    <>
      <Alarms alarms={status.alarms} />
      <Tabs label="Parts of the cluster" tabs={tabs} />
      {tab === 'processes' && <Processes status={status} />}
      {tab === 'shards' && <Shards status={status} />}
      {tab === 'servers' && <Servers servers={status.servers} />}
      {tab === 'streams' && <Streams streams={status.streams} />}
      {tab === 'verify' && <Verify path="/v2/admin/verify" subject="the whole installation" />}
    </>
  );
}

function Alarms({ alarms }: { readonly alarms: readonly string[] }) {
  if (alarms.length === 0) {
    return (
      <p class="note good">
        <Icon name="check" /> No alarms.
      </p>
    );
  }
  return (
    <ul class="stack tight plain-list" aria-label="Alarms">
      {alarms.map((alarm) => (
        <li key={alarm} class="note bad">
          <Icon name="warning" /> {alarm}
        </li>
      ))}
    </ul>
  );
}
