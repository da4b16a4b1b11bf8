/**
 * Adds records of the meter's log to the statistics.
 *
 *  MF1 a record is counted on the day that it names, at its own time of day, or at the last moment of that day when
 *      it was written after midnight
 */
import { DAY_MS } from '../../domain/statistics/index.js';
import type { LatencyClasses, MeterRecord, MeterRow, MeterSearchRow } from '../../protocol/index.js';
import type { Delta, Deltas } from './deltas.js';
import type { GaugeState, Size } from './gauge-state.js';
import { KV_PLACES, QUEUE_PLACES, SCRIPT_COMMANDS, SEARCH_PLACES, type SubjectKind } from './metrics.js';

/** The part of a search index, which is always reported as a whole. */
const WHOLE = -1;

export class MeterFold {
  constructor(
    private readonly deltas: Deltas,
    private readonly gauges: GaugeState,
    private readonly subjectOf: (kind: SubjectKind, name: string) => number,
  ) {}

  apply({ session, day, atMs, rows, ...rest }: MeterRecord): void {
    const inDayMs = Math.min(Math.max(atMs, day * DAY_MS), (day + 1) * DAY_MS - 1);
    const { searches = [], queues = [], kvGauges = [], searchGauges = [] } = rest;
    for (const row of rows) {
      const subject = this.subjectOf('kv', row.database);
      const delta = this.deltas.of(subject, inDayMs);
      addKv(delta, row);
      if (row.connections === undefined) continue;
      delta.gauge('connections', this.gauges.setConnections(subject, session, row.connections, inDayMs));
    }
    for (const row of searches) addSearch(this.deltas.of(this.subjectOf('search', row.index), inDayMs), row);
    for (const { account, bytesIn, bytesOut } of queues) {
      this.deltas.of(this.subjectOf('queue', account), inDayMs).add(QUEUE_PLACES.apiBytes, bytesIn + bytesOut);
    }
    for (const { database, index, keys: items, storageBytes: bytes, epoch } of kvGauges) {
      const subject = this.subjectOf('kv', database);
      this.#size(subject, this.gauges.setSize(subject, index, { items, bytes }, epoch), inDayMs);
    }
    for (const { index, documents: items, storageBytes: bytes } of searchGauges) {
      const subject = this.subjectOf('search', index);
      this.#size(subject, this.gauges.setSize(subject, WHOLE, { items, bytes }, undefined), inDayMs);
    }
  }

  #size(subject: number, { items, bytes }: Size, atMs: number): void {
    const delta = this.deltas.of(subject, atMs);
    delta.gauge('items', items);
    delta.gauge('bytes', bytes);
  }
}

function addKv(delta: Delta, row: MeterRow): void {
  const { latencies, writeLatencies = [], readMicros = 0, writeMicros = 0, commandCounts = [] } = row;
  delta.add(KV_PLACES.commands, row.commands);
  delta.add(KV_PLACES.writes, row.writes);
  delta.add(KV_PLACES.hits, row.hits);
  delta.add(KV_PLACES.misses, row.misses);
  delta.add(KV_PLACES.bytesIn, row.bytesIn);
  delta.add(KV_PLACES.bytesOut, row.bytesOut);
  delta.add(KV_PLACES.readMicros, readMicros);
  delta.add(KV_PLACES.writeMicros, writeMicros);
  delta.addAll(KV_PLACES.readClasses, less(latencies, writeLatencies));
  delta.addAll(KV_PLACES.writeClasses, writeLatencies);
  for (const [name, calls] of commandCounts) {
    delta.addName(name, calls);
    if (SCRIPT_COMMANDS.has(name)) delta.add(KV_PLACES.scripts, calls);
  }
}

function addSearch(delta: Delta, row: MeterSearchRow): void {
  delta.add(SEARCH_PLACES.queries, row.queries);
  delta.add(SEARCH_PLACES.updates, row.updates);
  delta.add(SEARCH_PLACES.reranks, row.reranks);
  delta.add(SEARCH_PLACES.bytesIn, row.bytesIn);
  delta.add(SEARCH_PLACES.bytesOut, row.bytesOut);
  for (const work of ['query', 'update', 'embedding', 'rerank'] as const) {
    delta.add(SEARCH_PLACES[`${work}Micros`], row[work].micros);
    delta.addAll(SEARCH_PLACES[`${work}Classes`], row[work].latencies);
  }
}

function less(all: LatencyClasses, some: LatencyClasses): number[] {
  return all.map((count, at) => count - (some[at] ?? 0));
}
