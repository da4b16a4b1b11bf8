/**
 * `millrace journal verify`: verifies the history of a database or a queue, or of the whole installation with its
 * snapshots, leases and a checkpoint.
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
import { byShard, hex, type JournalCommandDeps, type PlacedPartition, teller } from './journal-deps.js';
import type { QuestionOf } from './journal-question.js';

export async function verify(
  deps: JournalCommandDeps,
  places: readonly PlacedPartition[],
  { asJson }: QuestionOf<'verify'>,
): Promise<0 | 1> {
  const tell = teller(deps, asJson);
  let isFine = true;
  let isDamaged = false;
  for (const [shard, partitions] of byShard(places)) {
    const marks = await leaseMarks(deps, shard);
    const audit = await verifyShard(deps, shard, { signal: deps.signal, marks });
    await tell(entriesFact(audit), entriesLine(audit));
    for (const partition of partitions) {
      const { sections, lastIndex } = auditOfPartition(audit, partition);
      await tell({ partition, sections, lastIndex }, `${partition}: ${sections} sections, the last is ${lastIndex}\n`);
    }
    for (const finding of audit.findings) await tell(findingFact(shard, finding), findingLine(shard, finding));
    isFine &&= audit.findings.length === 0;
    isDamaged ||= audit.findings.some(isDamage);
  }
  await tell({ ok: isFine }, isFine ? 'ok\n' : isDamaged ? 'damaged\n' : NEWER);
  return isFine ? 0 : 1;
}

export async function verifyAll(
  deps: JournalCommandDeps,
  { against, signedBy, asJson }: QuestionOf<'verify-all'>,
): Promise<0 | 1> {
  const tell = teller(deps, asJson);
  const checkpoint = against === undefined ? undefined : await openCheckpoint(deps, { file: against, signedBy }, tell);
  const problems = checkpoint?.problems ?? [];
  for (const reason of problems) await tell({ damaged: 'checkpoint', reason }, `DAMAGED ${reason}\n`);
  let isFine = problems.length === 0;
  let isDamaged = !isFine;
  let first: string | undefined;
  const reports = verifyInstallation(deps, {
    signal: deps.signal,
    against: checkpoint?.statement,
    onProgress: ({ shard, phase, done, total }) => deps.progress(() => `${shard}: ${phase} ${done} of ${total}`),
  });
  for await (const report of reports) {
    for (const [fact, line] of reportLines(report)) await tell(fact, line);
    const shard = report.kind === 'missing' ? report.shard : report.audit.shard;
    for (const finding of report.findings) {
      isFine = false;
      isDamaged ||= isDamage(finding);
      await tell(findingFact(shard, finding), findingLine(shard, finding));
      if (finding.position !== undefined && isDamage(finding)) first ??= `${shard} at position ${finding.position}`;
    }
  }
  const verdict = first === undefined ? 'damaged\n' : `damaged: the first bad entry is ${first}\n`;
  await tell({ ok: isFine, firstBadEntry: first }, isFine ? 'ok\n' : isDamaged ? verdict : NEWER);
  return isFine ? 0 : 1;
}

function* reportLines(report: AuditReport): Iterable<readonly [fact: unknown, line: string]> {
  if (report.kind === 'log') {
    const { shard, records, firstPosition, lastPosition } = report.audit;
    const line = `${shard}: ${records} records at positions ${firstPosition}-${lastPosition}, which have no chain\n`;
    yield [{ shard, records, firstPosition, lastPosition }, line];
  }
  if (report.kind !== 'shard') return;
  const { audit, snapshots } = report;
  yield [entriesFact(audit), entriesLine(audit)];
  if (snapshots.snapshots > 0) {
    const counts = `${snapshots.snapshots} read back (${snapshots.bytes} bytes), ${snapshots.refolded} rebuilt from the journal`;
    yield [{ shard: audit.shard, ...snapshots }, `${audit.shard}: of its snapshots ${counts}\n`];
  }
  for (const { source, number } of audit.marksTooOld) {
    const line = `NOTE ${audit.shard}: ${source} names entry ${number}, which is no longer kept: it cannot be compared\n`;
    yield [{ note: audit.shard, source, number }, line];
  }
}

const ANCHORS = {
  beginning: 'from its beginning',
  snapshot: 'from a snapshot on',
  trusted: 'the first entry could not be checked',
} as const;

function entriesFact(audit: ShardAudit) {
  const { shard, entries, firstPosition, lastPosition, head, anchoredBy, manifestsOnChain, marksMet } = audit;
  const { number, epoch, hash } = head;
  const chain = { firstPosition, lastPosition, anchoredBy, head: { number, epoch, hash: hex(hash) } };
  return { shard, entries, ...chain, snapshotsOnChain: manifestsOnChain, marksMet };
}

function entriesLine(audit: ShardAudit): string {
  const { shard, entries, firstPosition, lastPosition, head, anchoredBy, manifestsOnChain, marksMet } = audit;
  if (entries === 0) return `${shard}: no entries\n`;
  return (
    `${shard}: ${entries} entries at positions ${firstPosition}-${lastPosition}, ${ANCHORS[anchoredBy]}, ` +
    `${manifestsOnChain} snapshots on the chain${marksMet === 0 ? '' : `, ${marksMet} marks confirmed`}; ` +
    `entry ${head.number} of epoch ${head.epoch} has hash ${hex(head.hash)}\n`
  );
}

const NEWER = 'not verified: parts were written by a newer release; use its journal verify\n';

function isDamage({ isNewer }: Finding): boolean {
  return isNewer !== true;
}

function findingFact(shard: ShardName, { isNewer, ...finding }: Finding) {
  return isNewer === true ? { newer: shard, ...finding } : { damaged: shard, ...finding };
}

function findingLine(shard: ShardName, { reason, position, isNewer }: Finding): string {
  const word = isNewer === true ? 'NEWER' : 'DAMAGED';
  return `${word} ${shard}${position === undefined ? '' : ` at position ${position}`}: ${reason}\n`;
}
