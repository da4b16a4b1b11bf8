/** The shards: who owns each, how far it is, and what waits for it. */
import { StateBadge } from '../../parts/badge.js';
import { bytes, duration, short, whole } from '../../parts/format.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import type { ShardStatus } from './cluster-status.js';

const COLUMNS: readonly Column<ShardStatus>[] = [
  { title: 'Shard', cell: ({ shard }) => <code>{shard}</code> },
  { title: 'State', cell: (shard) => <ShardState {...shard} /> },
  {
    title: 'Owner',
    cell: ({ owner, wished }) => (
      <>
        <code>{owner ?? 'nobody'}</code>
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
  { title: 'Snapshot', cell: ({ snapshotAtMs }) => <Time at={snapshotAtMs} as="ago" />, isWideOnly: true },
];

export function Shards({ shards }: { readonly shards: readonly ShardStatus[] }) {
  return <Table label="Shards" columns={COLUMNS} rows={shards} idOf={({ shard }) => shard} />;
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
