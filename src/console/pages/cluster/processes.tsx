/** The processes: what each does, how it is, and what time it believes it is. */
import { Badge, StateBadge } from '../../parts/badge.js';
import { duration } from '../../parts/format.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import type { ProcessStatus } from './cluster-status.js';

const COLUMNS: readonly Column<ProcessStatus>[] = [
  {
    title: 'Process',
    cell: ({ process, host, pid }) => (
      <>
        <code>{process}</code>
        <div class="small muted">{host === undefined ? 'unknown' : `${host}, pid ${pid}`}</div>
      </>
    ),
  },
  { title: 'State', cell: (process) => <ProcessState {...process} /> },
  { title: 'Roles', cell: ({ roles = [] }) => roles.join(', '), isWideOnly: true },
  { title: 'Shards', cell: ({ ownedShards }) => ownedShards, isNumber: true },
  {
    title: 'Version',
    cell: ({ version, readsFormat }) => (
      <>
        {version ?? '–'}
        {readsFormat !== undefined && <div class="small muted">reads formats to {readsFormat}</div>}
      </>
    ),
    isWideOnly: true,
  },
  { title: 'Started', cell: ({ startedAtMs }) => <Time at={startedAtMs} as="ago" />, isWideOnly: true },
  { title: 'Clock', cell: (process) => <Clock {...process} />, isNumber: true },
];

export function Processes({ processes }: { readonly processes: readonly ProcessStatus[] }) {
  return <Table label="Processes" columns={COLUMNS} rows={processes} idOf={({ process }) => process} />;
}

function ProcessState({ state, isDrained, checks = [], stopped = [] }: ProcessStatus) {
  const wrong = checks.filter(({ ok }) => !ok);
  return (
    <div class="stack tight">
      <span class="row">
        <StateBadge state={state} />
        {isDrained && <Badge tone="info">drained</Badge>}
      </span>
      {wrong.map(({ name, detail }) => (
        <span key={name} class="small wrap-anywhere">
          {name}: {detail ?? 'not ready'}
        </span>
      ))}
      {stopped.map(({ shard, why }) => (
        <span key={shard} class="small wrap-anywhere">
          {shard} is not served: {why}
        </span>
      ))}
    </div>
  );
}

function Clock({ clockAheadMs, isClockInDoubt }: ProcessStatus) {
  if (isClockInDoubt === true) return <Badge tone="bad">in doubt</Badge>;
  if (clockAheadMs === undefined) return <>–</>;
  return <>{`${clockAheadMs < 0 ? '−' : '+'}${duration(Math.abs(clockAheadMs))}`}</>;
}
