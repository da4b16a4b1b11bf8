/** The shards: owner, position and waiting work of each. */
import { manage } from '../../api/call.js';
import { maySteer } from '../../api/session.js';
import { StateBadge } from '../../parts/badge.js';
import { bytes, duration, short, whole } from '../../parts/format.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import type { ClusterStatus, ProcessStatus, ShardStatus } from './cluster-status.js';

const COLUMNS: readonly Column<ShardStatus>[] = [
  { title: 'Shard', cell: ({ shard }) => <code>{shard}</code> },
  { title: 'State', cell: (shard) => <ShardState {...shard} /> },
  {
    title: 'Owner',
    cell: ({ owner, wished }) => (
      <>
        <code>{owner ?? 'no owner'}</code>
        {wished !== undefined && wished !== owner && <div class="small muted">wanted at {wished}</div>}
      </>
    ),
  },
  { title: 'Epoch', cell: ({ epoch }) => epoch ?? '–', isNumber: true, isWideOnly: true },
  { title: 'Position', cell: ({ position }) => known(position, whole), isNumber: true, isWideOnly: true },
  { title: 'Lag', cell: ({ lag }) => known(lag, whole), isNumber: true },
  {
    title: 'Mailbox',
    cell: ({ mailboxCommands, mailboxBytes = 0 }) =>
      mailboxCommands === undefined
        ? '–'
        : `${short(mailboxCommands)}${mailboxBytes > 0 ? `, ${bytes(mailboxBytes)}` : ''}`,
    isNumber: true,
    isWideOnly: true,
  },
  { title: 'Last store', cell: ({ lastStoreMs }) => known(lastStoreMs, duration), isNumber: true, isWideOnly: true },
  { title: 'Snapshot', cell: ({ snapshotAtMs }) => <Time at={snapshotAtMs} as="past" />, isWideOnly: true },
];

const ANYWHERE = '';

export function Shards({ status }: { readonly status: ClusterStatus }) {
  const { shards, processes } = status;
  const owners = processes.filter(({ state, isDrained }) => state === 'ready' && !isDrained);
  const moved: Column<ShardStatus> = { title: 'Move', cell: (shard) => <Move shard={shard} owners={owners} /> };
  const columns = maySteer.value && processes.length > 1 ? [...COLUMNS, moved] : COLUMNS;
  return <Table label="Shards" columns={columns} rows={shards} idOf={({ shard }) => shard} />;
}

/** The shard moves immediately, by a planned move; the wish stays until automatic placement is restored. */
function Move({ shard, owners }: { readonly shard: ShardStatus; readonly owners: readonly ProcessStatus[] }) {
  const path = { id: shard.shard };
  const move = (process: string) =>
    doing(
      () => manage('POST /v2/admin/cluster/shards/{id}/move', { path, query: { process } }),
      process === ANYWHERE ? `${shard.shard} is placed by itself` : `${shard.shard} goes to ${process}`,
    );
  return (
    <select
      aria-label={`Where ${shard.shard} is wanted`}
      value={shard.wished ?? ANYWHERE}
      onChange={({ currentTarget }) => void move(currentTarget.value)}
    >
      <option value={ANYWHERE}>by itself</option>
      {owners.map(({ process }) => (
        <option key={process} value={process}>
          {process}
        </option>
      ))}
    </select>
  );
}

function ShardState({ state = 'unknown', replayed = 0, toReplay = 0 }: ShardStatus) {
  return (
    <>
      <StateBadge state={state} />
      {state === 'replaying' && (
        <div class="small muted">
          {whole(replayed)} of {whole(toReplay)} entries
        </div>
      )}
    </>
  );
}

function known(value: number | undefined, shown: (value: number) => string): string {
  return value === undefined ? '–' : shown(value);
}
