/**
 * `millrace journal verify`: proves the history of a database or a queue, or of the whole installation with its
 * snapshots and what is known of it from leases and a checkpoint.
 */
import {
  type AuditReport,
  auditOfPartition,
  type Finding,
  leaseMarks,
  type ShardAudit,
  verifyInstallation,
  verifyShard,
} from '../journal/index.js';
import type { ShardName } from '../kernel/index.js';
import { openCheckpoint } from './checkpoint-command.js';
import { byShard, hex, type JournalCommandDeps, type PlacedPartition, progressLines } from './journal-deps.js';
import type { QuestionOf } from './journal-question.js';

export async function verify(deps: JournalCommandDeps, places: readonly PlacedPartition[]): Promise<0 | 1> {
  let isFine = true;
  for (const [shard, partitions] of byShard(places)) {
    const marks = await leaseMarks(deps, shard);
    const audit = await verifyShard(deps, shard, { signal: deps.signal, marks });
    await deps.write(entriesLine(audit));
    for (const partition of partitions) {
      const { sections, lastIndex } = auditOfPartition(audit, partition);
      await deps.write(`${partition}: ${sections} sections, the last is ${lastIndex}\n`);
    }
    for (const finding of audit.findings) await deps.write(damagedLine(shard, finding));
    isFine &&= audit.findings.length === 0;
  }
  await deps.write(isFine ? 'ok\n' : 'damaged\n');
  return isFine ? 0 : 1;
}

export async function verifyAll(
  deps: JournalCommandDeps,
  { against, signedBy }: QuestionOf<'verify-all'>,
): Promise<0 | 1> {
  const checkpoint = against === undefined ? undefined : await openCheckpoint(deps, against, signedBy);
  const show = progressLines(deps);
  const damage: string[] = [...(checkpoint?.problems ?? [])].map((problem) => `DAMAGED ${problem}\n`);
  for (const line of damage) await deps.write(line);
  let first: string | undefined;
  const reports = verifyInstallation(deps, {
    signal: deps.signal,
    against: checkpoint?.statement,
    onProgress: ({ shard, phase, done, total }) => show(() => `${shard}: ${phase} ${done} of ${total}`),
  });
  for await (const report of reports) {
    for (const line of reportLines(report)) await deps.write(line);
    const shard = report.kind === 'missing' ? report.shard : report.audit.shard;
    for (const finding of report.findings) {
      damage.push(damagedLine(shard, finding));
      await deps.write(damagedLine(shard, finding));
      if (finding.position !== undefined) first ??= `${shard} at position ${finding.position}`;
    }
  }
  if (damage.length === 0) {
    await deps.write('ok\n');
    return 0;
  }
  await deps.write(first === undefined ? 'damaged\n' : `damaged: the first bad entry is ${first}\n`);
  return 1;
}

function* reportLines(report: AuditReport): Iterable<string> {
  if (report.kind === 'log') {
    const { shard, records, firstPosition, lastPosition } = report.audit;
    yield `${shard}: ${records} records at positions ${firstPosition}-${lastPosition}, which have no chain\n`;
  }
  if (report.kind !== 'shard') return;
  const { audit, snapshots } = report;
  yield entriesLine(audit);
  if (snapshots.snapshots > 0) {
    const counts = `${snapshots.snapshots} read back (${snapshots.bytes} bytes), ${snapshots.refolded} folded anew`;
    yield `${audit.shard}: of its snapshots ${counts}\n`;
  }
  for (const { source, number } of audit.marksTooOld) {
    yield `NOTE ${audit.shard}: ${source} has seen entry ${number}, from before what is kept: nothing to compare it with\n`;
  }
}

const ANCHORS = {
  beginning: 'from its beginning',
  snapshot: 'from a snapshot on',
  trusted: 'its first entry taken at its word',
} as const;

function entriesLine(audit: ShardAudit): string {
  const { shard, entries, firstPosition, lastPosition, head, anchoredBy, manifestsOnChain, marksMet } = audit;
  if (entries === 0) return `${shard}: no entries\n`;
  return (
    `${shard}: ${entries} entries at positions ${firstPosition}-${lastPosition}, ${ANCHORS[anchoredBy]}, ` +
    `${manifestsOnChain} snapshots on the chain${marksMet === 0 ? '' : `, ${marksMet} vouched for`}; ` +
    `entry ${head.number} of epoch ${head.epoch} has hash ${hex(head.hash)}\n`
  );
}

function damagedLine(shard: ShardName, { reason, position }: Finding): string {
  return `DAMAGED ${shard}${position === undefined ? '' : ` at position ${position}`}: ${reason}\n`;
}
