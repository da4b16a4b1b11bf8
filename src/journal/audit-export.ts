/**
 * Exports the history of partitions from the journal: as lines of JSON, one for each section of an entry, or as RESP
 * commands that give any Redis the same data. Every exported entry has been checked against the chain.
 *
 *  AE1 a moment earlier than the kept history is refused, never answered with less history
 *  AE2 RESP output gives the state at `to`, for any `from`: history before `from` comes as the snapshot before it,
 *      where there is one
 *  AE3 the export reads only as fast as its output is consumed
 */

import type { ReadEntry } from '../codec/envelope/index.js';
import type { PartitionName, ShardName } from '../kernel/index.js';
import { entrySections, type Moment } from '../protocol/index.js';
import type { AuditPorts } from './audit.js';
import { isAfter, isBefore, tooEarly } from './audit-moment.js';
import { Chain } from './chain.js';
import { chainAfter, readEntries } from './entry-reader.js';
import type { PartitionFold } from './partition-fold.js';
import { linesOf, type WantedEffect } from './section-lines.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

export interface ExportRange {
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
}

interface ExportedLines extends ExportRange {
  /** For lines of databases: see `linesOf`. */
  readonly wants?: WantedEffect | undefined;
}

/** Where reading begins: after a snapshot, at the first entry, or at an entry that has to be trusted. */
interface Beginning {
  readonly base: StoredManifest | undefined;
  readonly from: number;
  readonly last: number;
  readonly chain: Chain;
  /** True when no history before `from` is missing: it is in the base, or there was none. */
  readonly isComplete: boolean;
}

/**
 * One line for each section of the partitions within the range, in pieces; a piece that ends a line ends in a newline.
 * @throws INVALID (AE1: the moment is not kept), JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function* exportLines(
  ports: AuditPorts,
  shard: ShardName,
  partitions: ReadonlySet<PartitionName>,
  { from, to, wants }: ExportedLines = {},
): AsyncGenerator<string> {
  const beginning = await beginAt(ports, shard, from, to);
  let isFirst = true;
  for await (const read of entriesUpTo(ports, beginning, to)) {
    if (isFirst && !beginning.isComplete && from?.kind === 'time' && from.atMs < read.entry.clockMs) {
      throw tooEarly(shard, `the journal begins at ${new Date(read.entry.clockMs).toISOString()}`);
    }
    isFirst = false;
    if (from !== undefined && isBefore(read.position, read.entry.clockMs, from)) continue;
    yield* linesOf(read, partitions, wants);
  }
}

/**
 * One partition as RESP commands: those of a snapshot, then every later effect up to `to` (AE2).
 * @throws INVALID (AE1: the moment is not kept), JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function* exportCommands(
  ports: AuditPorts,
  shard: ShardName,
  partition: PartitionName,
  { from, to }: ExportRange = {},
): AsyncGenerator<Uint8Array> {
  const beginning = await beginAt(ports, shard, from, to);
  if (!beginning.isComplete) throw tooEarly(shard, 'no snapshot is kept from before that moment');
  const snapshot = beginning.base?.manifest.partitions.find(({ name }) => name === partition);
  if (snapshot !== undefined) yield* new SnapshotStore(ports.objects, ports.log).segmentBytes(snapshot);
  for await (const { entry } of entriesUpTo(ports, beginning, to)) {
    for (const section of entrySections(entry)) if (section.partition === partition) yield section.effects;
  }
}

/**
 * The exported commands of a partition as the final state only: for a database of several partitions, where a
 * `FLUSHALL` in one must not empty the others. Holds the partition in memory.
 */
export async function* exportState(
  commands: AsyncIterable<Uint8Array>,
  fold: PartitionFold,
  segmentBytes: number,
): AsyncGenerator<Uint8Array> {
  for await (const effects of commands) fold.apply(effects);
  yield* fold.segments(segmentBytes);
}

async function beginAt(
  { journal, objects, log }: AuditPorts,
  shard: ShardName,
  from: Moment | undefined,
  to: Moment | undefined,
): Promise<Beginning> {
  const { first, last } = await journal.tail(shard);
  for (const moment of [from, to]) {
    if (moment?.kind !== 'position' || moment.position >= first || first === 1) continue;
    throw tooEarly(shard, `the journal begins at position ${first}`);
  }
  let base: StoredManifest | undefined;
  for await (const stored of new SnapshotStore(objects, log).newestFirst(shard)) {
    const { head } = stored.manifest;
    if (head.position < first - 1) break;
    if (to !== undefined && isAfter(head.position, head.clockMs, to)) continue;
    // Without `from` the oldest snapshot is used, and only when the journal's beginning was removed.
    if (from === undefined ? first > 1 : isBefore(head.position, head.clockMs, from)) base = stored;
    if (from !== undefined && base !== undefined) break;
  }
  if (base !== undefined) {
    return {
      base,
      from: base.manifest.head.position + 1,
      last,
      chain: chainAfter(shard, base.manifest),
      isComplete: true,
    };
  }
  const isComplete = first === 1;
  return {
    base,
    from: first,
    last,
    chain: isComplete ? chainAfter(shard, undefined) : new Chain(shard, undefined),
    isComplete,
  };
}

async function* entriesUpTo(
  { journal }: AuditPorts,
  { from, last, chain }: Beginning,
  to: Moment | undefined,
): AsyncGenerator<ReadEntry> {
  const end = to?.kind === 'position' ? Math.min(to.position, last) : last;
  for await (const read of readEntries(journal, chain, from, end)) {
    // Clocks never fall along a journal: all later entries are after `to`.
    if (to !== undefined && isAfter(read.position, read.entry.clockMs, to)) return;
    yield read;
  }
}
