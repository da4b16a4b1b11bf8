/** The processes: roles, health and clock. */
import { manage } from '../../api/call.js';
import { maySteer } from '../../api/session.js';
import { Badge, StateBadge } from '../../parts/badge.js';
import { SmallButton } from '../../parts/button.js';
import { asked } from '../../parts/dialog.js';
import { duration } from '../../parts/format.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import type { ClusterStatus, ProcessStatus } from './cluster-status.js';

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
  { title: 'Started', cell: ({ startedAtMs }) => <Time at={startedAtMs} as="past" />, isWideOnly: true },
  { title: 'Clock', cell: (process) => <Clock {...process} />, isNumber: true },
];

const STEERED: Column<ProcessStatus> = { title: 'Steer', cell: (process) => <Drain {...process} /> };

/** A single process cannot hand shards over. */
export function Processes({ status }: { readonly status: ClusterStatus }) {
  const { processes } = status;
  const columns = maySteer.value && processes.length > 1 ? [...COLUMNS, STEERED] : COLUMNS;
  return <Table label="Processes" columns={columns} rows={processes} idOf={({ process }) => process} />;
}

function Drain({ process, isDrained }: ProcessStatus) {
  const path = { id: process };
  const drain = async () => {
    const isMeant = await asked({
      title: `Drain ${process}?`,
      text: 'It hands over all its shards and owns none until it is undrained. It still answers clients.',
      action: 'Drain',
    });
    if (!isMeant) return;
    await doing(() => manage('POST /v2/admin/cluster/processes/{id}/drain', { path }), `${process} hands over`);
  };
  const undrain = () =>
    doing(() => manage('POST /v2/admin/cluster/processes/{id}/undrain', { path }), `${process} may own shards`);
  return <SmallButton onClick={isDrained ? undrain : drain}>{isDrained ? 'Undrain' : 'Drain'}</SmallButton>;
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
