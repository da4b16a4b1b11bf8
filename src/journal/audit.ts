/**
 * Verifies a shard's history, and reports each fault in order of position: numbers, hashes, epochs and clocks of
 * entries, the chain of every partition's sections, positions without gaps, snapshots that end on this chain, and
 * entries for which a lease or checkpoint vouches.
 *
 *  AUJ1 a message that the server does not return is a finding at its position, and later messages are still read
 *  AUJ2 a front that is removed during the audit is no damage: the audit begins again after it
 */
import type { PartitionName, ShardName } from '../kernel/index.js';
import type { Journal, Log, ObjectStore } from '../ports/index.js';
import { type Anchor, ChainAudit, type EntryMark, type Finding, type PartitionAudit } from './audit-chain.js';
import { gapReason, readWithGaps } from './audit-reading.js';
import type { ChainHead } from './chain.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

export interface AuditPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly log: Log;
}

export interface AuditProgress {
  readonly shard: ShardName;
  readonly phase: 'entries' | 'snapshots';
  /** Positions, or snapshots: done, and in total. */
  readonly done: number;
  readonly total: number;
}

export interface AuditOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called about every thousand messages, and at the end of each phase. */
  readonly onProgress?: ((progress: AuditProgress) => void) | undefined;
  /** Entries that must be on the chain. */
  readonly marks?: readonly EntryMark[] | undefined;
}

export interface ShardAudit {
  readonly shard: ShardName;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly entries: number;
  readonly firstNumber: number;
  readonly head: ChainHead;
  /**
   * `beginning`: verified from entry 1; `snapshot`: from the end of a snapshot; `trusted`: the first entry had to be
   * trusted.
   */
  readonly anchoredBy: Anchor;
  /** Manifests with an end that was found on the chain. */
  readonly manifestsOnChain: number;
  /** The number of given marks that agreed with their entries. */
  readonly marksMet: number;
  /** Marks older than the kept history, which cannot be compared. */
  readonly marksTooOld: readonly EntryMark[];
  readonly partitions: ReadonlyMap<PartitionName, PartitionAudit>;
  /** In order of position; those without one at the end. */
  readonly findings: readonly Finding[];
}

/** The front of a busy shard moves now and then, not permanently (AUJ2: a removed front restarts the audit). */
const MAX_RESTARTS = 3;

/**
 * Reads the shard's whole journal. @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted; damage is reported, not
 * thrown
 */
export async function verifyShard(
  ports: AuditPorts,
  shard: ShardName,
  options: AuditOptions = {},
): Promise<ShardAudit> {
  for (let restarts = 0; ; restarts += 1) {
    const { audit, hasMoved } = await auditOnce(ports, shard, options);
    if (!hasMoved || restarts >= MAX_RESTARTS) return audit;
  }
}

async function auditOnce(
  { journal, objects, log }: AuditPorts,
  shard: ShardName,
  { signal, onProgress, marks = [] }: AuditOptions,
): Promise<{ audit: ShardAudit; hasMoved: boolean }> {
  const manifests: StoredManifest[] = [];
  for await (const stored of new SnapshotStore(objects, log).newestFirst(shard)) manifests.push(stored);
  const { first, last, holes } = await journal.tail(shard);
  const audit = new ChainAudit(shard, first, manifests, marks);
  const reading = {
    signal,
    onProgress: (done: number, total: number) => onProgress?.({ shard, phase: 'entries', done, total }),
  };
  let hasMoved = false;
  let missing = 0;
  for await (const step of readWithGaps(journal, shard, { first, last }, reading)) {
    if (step.kind === 'message') {
      audit.add(step.message.position, step.message.bytes);
    } else {
      const { from, to } = step;
      hasMoved ||= from === first && (await journal.tail(shard)).first > first;
      missing += to - from + 1;
      audit.find({ reason: gapReason(from, to), position: from });
      audit.skip();
    }
    if (audit.isFull) break;
  }
  if (first > 1 && !manifests.some(({ manifest }) => manifest.head.position >= first - 1)) {
    audit.find({ reason: 'earlier entries were removed, and no snapshot covers them', position: first });
  }
  // A server may count lost messages and still return all others.
  if (holes > missing) audit.find({ reason: `${holes} messages are missing in the middle` });
  const marksTooOld = audit.end();
  return {
    hasMoved,
    audit: {
      shard,
      firstPosition: first,
      lastPosition: last,
      entries: audit.entries,
      firstNumber: audit.firstNumber,
      head: audit.head,
      anchoredBy: audit.anchoredBy,
      manifestsOnChain: audit.manifestsOnChain,
      marksMet: audit.marksMet,
      marksTooOld,
      partitions: audit.partitions,
      findings: inOrder(audit.findings),
    },
  };
}

/** The first damaged entry comes first. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const at = ({ position }: Finding) => position ?? Number.POSITIVE_INFINITY;
  return [...findings].sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
}

/**
 * The part of a shard's audit that concerns one partition: its sections, and findings that are not known to concern
 * only others.
 */
export function auditOfPartition(
  audit: ShardAudit,
  partition: PartitionName,
): PartitionAudit & { readonly findings: Finding[] } {
  const { sections, lastIndex } = audit.partitions.get(partition) ?? { sections: 0, lastIndex: 0 };
  const findings = audit.findings.filter(
    (finding) => finding.partition === undefined || finding.partition === partition,
  );
  return { sections, lastIndex, findings };
}
