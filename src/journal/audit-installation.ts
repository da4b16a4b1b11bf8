/**
 * The audit of an installation: each shard's chain and snapshots, the entries for which its lease and a checkpoint
 * vouch, and the meter's log. It goes shard by shard, so that its caller can show the progress.
 *
 *  AI1 a lease is read before the end of its journal, so the entry that it vouches for must be there
 *  AI2 the stream must be the one named in the lease and in the checkpoint
 */
import { decodeMeterRecord } from '../codec/control/index.js';
import type { ShardLease } from '../codec/leases/index.js';
import { isMillraceError, type ShardName } from '../kernel/index.js';
import type { LeaseStore } from '../ports/index.js';
import { type AuditOptions, type AuditPorts, inOrder, type ShardAudit, verifyShard } from './audit.js';
import type { EntryMark, Finding } from './audit-chain.js';
import { type LogAudit, verifyLog } from './audit-log.js';
import { type SnapshotAudit, verifySnapshots } from './audit-snapshots.js';
import type { CheckpointStatement, ShardCheckpoint } from './checkpoints.js';
import { leaseOf } from './journal-completeness.js';
import type { FoldFactory } from './partition-fold.js';

export interface InstallationPorts extends AuditPorts {
  readonly leases: Pick<LeaseStore, 'get'>;
  readonly foldFactory: FoldFactory;
  /** Shards with a chain: of databases, of queues, of the control state. */
  readonly shards: readonly ShardName[];
  /** Logs without a chain: the meter's log. */
  readonly logs: readonly ShardName[];
}

export interface InstallationAuditOptions extends Pick<AuditOptions, 'signal' | 'onProgress'> {
  /** A checkpoint that an operator kept, with a verified signature. */
  readonly against?: CheckpointStatement | undefined;
}

export type AuditReport =
  | {
      readonly kind: 'shard';
      readonly audit: ShardAudit;
      readonly snapshots: SnapshotAudit;
      /** Findings about entries, snapshots and the stream itself, in order of position. */
      readonly findings: readonly Finding[];
    }
  | { readonly kind: 'log'; readonly audit: LogAudit; readonly findings: readonly Finding[] }
  /** The stream could not be read at all. */
  | { readonly kind: 'missing'; readonly shard: ShardName; readonly findings: readonly Finding[] };

/** A report for each shard, when it is done. @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted */
export async function* verifyInstallation(
  ports: InstallationPorts,
  options: InstallationAuditOptions = {},
): AsyncGenerator<AuditReport> {
  const checkpoints = new Map(options.against?.shards.map((checkpoint) => [checkpoint.shard, checkpoint]));
  for (const shard of ports.shards) {
    yield await orMissing(shard, () => reportOf(ports, shard, checkpoints.get(shard), options));
    checkpoints.delete(shard);
  }
  for (const shard of ports.logs) {
    yield await orMissing(shard, async () => {
      const audit = await verifyLog(ports.journal, shard, decodeMeterRecord, options);
      return { kind: 'log', audit, findings: audit.findings };
    });
  }
  for (const shard of checkpoints.keys()) {
    yield { kind: 'missing', shard, findings: [{ reason: 'the checkpoint names it, but it does not exist' }] };
  }
}

async function reportOf(
  ports: InstallationPorts,
  shard: ShardName,
  checkpoint: ShardCheckpoint | undefined,
  { signal, onProgress }: InstallationAuditOptions,
): Promise<AuditReport> {
  const lease = await leaseOf(ports, shard);
  const { createdAt } = await ports.journal.tail(shard);
  const ofStream: Finding[] = [];
  if (lease !== undefined && lease.createdAt !== createdAt) {
    ofStream.push({ reason: `its stream was created at ${createdAt}, the lease says ${lease.createdAt}` });
  }
  if (checkpoint !== undefined && checkpoint.createdAt !== createdAt) {
    ofStream.push({ reason: `its stream was created at ${createdAt}, the checkpoint says ${checkpoint.createdAt}` });
  }
  const marks = marksOf(lease);
  if (checkpoint !== undefined && checkpoint.number > 0) marks.push(markOf(checkpoint));
  const audit = await verifyShard(ports, shard, { signal, onProgress, marks });
  const snapshots = await verifySnapshots(ports, shard, ports.foldFactory, { signal, onProgress });
  const findings = [...ofStream, ...inOrder([...audit.findings, ...snapshots.findings])];
  return { kind: 'shard', audit, snapshots, findings };
}

/** The entry that the shard's lease vouches for; read before the end of the journal (AI1). */
export async function leaseMarks(ports: Pick<InstallationPorts, 'leases'>, shard: ShardName): Promise<EntryMark[]> {
  return marksOf(await leaseOf(ports, shard));
}

function marksOf(lease: ShardLease | undefined): EntryMark[] {
  return lease?.highWater === undefined ? [] : [{ source: 'the lease', ...lease.highWater }];
}

function markOf({ number, hash, position, partitions }: ShardCheckpoint): EntryMark {
  const bytes = (hex: string) => Buffer.from(hex, 'hex');
  return {
    source: 'the checkpoint',
    number,
    hash: bytes(hash),
    position,
    partitions: partitions.map((partition) => ({ ...partition, hash: bytes(partition.hash) })),
  };
}

async function orMissing(shard: ShardName, audit: () => Promise<AuditReport>): Promise<AuditReport> {
  try {
    return await audit();
  } catch (error) {
    if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
    return { kind: 'missing', shard, findings: [{ reason: error.message }] };
  }
}
