/**
 * Proves a shard's history, or says where it does not hold: numbers, hashes, epochs and clocks of entries,
 * the chain of every partition's sections, positions without a gap, that snapshots end on this chain, and that the
 * entries somebody vouches for are in it. Every finding is reported, in order of position.
 *
 *  AUJ1 what the server does not give back any more is a finding at its position, and what is behind it is read
 *  AUJ2 a front that is let go of while it is read is no damage: the audit begins again behind it
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
  /** Positions, or snapshots, done of all. */
  readonly done: number;
  readonly total: number;
}

export interface AuditOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called every thousand messages or so, and at the end of each phase. */
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
  /** `beginning`: from entry 1; `snapshot`: from where a snapshot ends; `trusted`: the first entry had to be believed. */
  readonly anchoredBy: Anchor;
  /** Manifests whose end was found on the chain. */
  readonly manifestsOnChain: number;
  /** How many of the marks that were given were found as they were said to be. */
  readonly marksMet: number;
  /** Marks of entries from before what is kept: nothing here can be compared with them. */
  readonly marksTooOld: readonly EntryMark[];
  readonly partitions: ReadonlyMap<PartitionName, PartitionAudit>;
  /** In order of position; those without one at the end. */
  readonly findings: readonly Finding[];
}

/** AUJ2: the front of a busy shard moves once in a while, not all the time. */
const MAX_RESTARTS = 3;

/** Reads all of the shard's journal. @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted; damage is reported, not thrown */
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
    audit.find({ reason: 'what was before this position is gone, and no snapshot covers it', position: first });
  }
  // A server may count what it has lost and give back everything else.
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

/** The first bad entry first. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const at = ({ position }: Finding) => position ?? Number.POSITIVE_INFINITY;
  return [...findings].sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
}

/** What of a shard's audit concerns one partition: its own sections, and whatever is not known to concern only others. */
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
