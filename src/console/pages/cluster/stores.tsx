/** The storage in NATS: servers with their disks, and streams with their replicas. */
import { Badge, StateBadge } from '../../parts/badge.js';
import { bytes, whole } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import type { ServerStatus, StreamStatus } from './cluster-status.js';

const SERVERS: readonly Column<ServerStatus>[] = [
  { title: 'Server', cell: ({ name }) => <code>{name}</code> },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Version', cell: ({ version }) => version ?? '–', isWideOnly: true },
  {
    title: 'Synced',
    cell: ({ hasSyncAlways }) =>
      hasSyncAlways === undefined ? '–' : hasSyncAlways ? 'before each answer' : <Badge tone="bad">not synced</Badge>,
  },
  {
    title: 'Stored',
    cell: ({ storedBytes, storeLimitBytes }) =>
      storedBytes === undefined
        ? '–'
        : `${bytes(storedBytes)}${storeLimitBytes ? ` of ${bytes(storeLimitBytes)}` : ''}`,
    isNumber: true,
  },
];

const STREAMS: readonly Column<StreamStatus>[] = [
  { title: 'Stream', cell: ({ stream }) => <code>{stream}</code> },
  { title: 'Leader', cell: ({ leader }) => leader ?? <Badge tone="warn">none</Badge> },
  { title: 'Messages', cell: ({ messages }) => whole(messages), isNumber: true },
  { title: 'Size', cell: ({ bytes: size }) => bytes(size), isNumber: true },
  { title: 'Last position', cell: ({ lastPosition }) => whole(lastPosition), isNumber: true, isWideOnly: true },
  {
    title: 'Lagging replicas',
    cell: ({ lagging }) =>
      lagging.length === 0
        ? 'none'
        : lagging.map(({ server, behind, isOffline }) => (
            <div key={server}>
              {server}: {isOffline ? <Badge tone="bad">does not answer</Badge> : whole(behind)}
            </div>
          )),
    isWideOnly: true,
  },
];

export function Servers({ servers }: { readonly servers: readonly ServerStatus[] }) {
  const empty = (
    <Empty title="No server may be asked">
      <span>This process has no credentials of the system account of NATS.</span>
    </Empty>
  );
  return <Table label="NATS servers" columns={SERVERS} rows={servers} idOf={({ name }) => name} empty={empty} />;
}

export function Streams({ streams }: { readonly streams: readonly StreamStatus[] }) {
  return <Table label="Streams" columns={STREAMS} rows={streams} idOf={({ stream }) => stream} />;
}
