/** The unwritten use of one UTC day: plain numbers that each request adds to. */
import type { UtcDay } from '../../domain/control/index.js';
import { type DatabaseId, getOrCreate } from '../../kernel/index.js';
import type { KvUsage, SearchUsage } from '../../ports/index.js';
import { LATENCY_BOUNDS_MS, type MeteredWork, type MeterRow, type MeterSearchRow } from '../../protocol/index.js';

type CommandName = { readonly name: string };

class Work {
  micros = 0;
  readonly latencies: number[] = noLatencies();

  add(durationMs: number | undefined): void {
    if (durationMs === undefined) return;
    this.micros += microsOf(durationMs);
    count(this.latencies, durationMs);
  }

  get row(): MeteredWork {
    return { micros: this.micros, latencies: this.latencies };
  }
}

class KvCounts {
  commands = 0;
  writes = 0;
  errors = 0;
  hits = 0;
  misses = 0;
  bytesIn = 0;
  bytesOut = 0;
  readMicros = 0;
  writeMicros = 0;
  readonly latencies: number[] = noLatencies();
  readonly writeLatencies: number[] = noLatencies();
  /** Keyed by the command's specification object, which is found faster than by its name. */
  readonly calls = new Map<CommandName, number>();

  add({ commands, writes, errors, hits, misses, bytesIn, bytesOut, durationMs, specs }: KvUsage): void {
    this.commands += commands;
    this.writes += writes;
    this.errors += errors ?? 0;
    this.hits += hits ?? 0;
    this.misses += misses ?? 0;
    this.bytesIn += bytesIn;
    this.bytesOut += bytesOut;
    // A refused request has bytes only.
    if (commands > 0) this.#addLatency(durationMs, writes > 0);
    if (specs !== undefined) this.#addCalls(specs);
  }

  #addLatency(durationMs: number, hasWritten: boolean): void {
    count(this.latencies, durationMs);
    if (hasWritten) {
      this.writeMicros += microsOf(durationMs);
      count(this.writeLatencies, durationMs);
    } else {
      this.readMicros += microsOf(durationMs);
    }
  }

  /** A pipeline often repeats one command, so there is one lookup for each series of the same command. */
  #addCalls(specs: readonly CommandName[]): void {
    let begun = 0;
    for (let at = 1; at <= specs.length; at += 1) {
      const spec = specs[begun] as CommandName;
      if (specs[at] === spec) continue;
      this.calls.set(spec, (this.calls.get(spec) ?? 0) + at - begun);
      begun = at;
    }
  }

  row(database: DatabaseId, connections: number | undefined): MeterRow {
    const { calls, ...counts } = this;
    const commandCounts = [...calls].map(([{ name }, times]) => [name, times] as const);
    return { database, ...counts, commandCounts, connections };
  }
}

class SearchCounts {
  queries = 0;
  updates = 0;
  reranks = 0;
  bytesIn = 0;
  bytesOut = 0;
  readonly query = new Work();
  readonly update = new Work();
  readonly embedding = new Work();
  readonly rerank = new Work();

  add(usage: SearchUsage): void {
    this.queries += usage.queries ?? 0;
    this.updates += usage.updates ?? 0;
    this.reranks += usage.reranks ?? 0;
    this.bytesIn += usage.bytesIn ?? 0;
    this.bytesOut += usage.bytesOut ?? 0;
    this.query.add(usage.queryMs);
    this.update.add(usage.updateMs);
    this.embedding.add(usage.embeddingMs);
    this.rerank.add(usage.rerankMs);
  }

  row(index: DatabaseId): MeterSearchRow {
    const { query, update, embedding, rerank, ...counts } = this;
    const work = { query: query.row, update: update.row, embedding: embedding.row, rerank: rerank.row };
    return { index, ...counts, ...work };
  }
}

/** The room left in the record that is being made: a NATS message holds 1 MiB. */
export class RecordLimit {
  #rows = 0;
  #bytes = 0;

  constructor(
    private readonly maxRows: number,
    private readonly maxBytes: number,
  ) {}

  /** @param bytes  an estimate */
  takes(bytes: number): boolean {
    if (this.#rows >= this.maxRows || this.#bytes >= this.maxBytes) return false;
    this.#rows += 1;
    this.#bytes += bytes;
    return true;
  }
}

export interface CutRows {
  readonly rows: MeterRow[];
  readonly searches: readonly MeterSearchRow[];
}

const KV_ROW_BYTES = 120;
const CALL_BYTES = 16;
const SEARCH_ROW_BYTES = 160;

export class UnwrittenDay {
  readonly #databases = new Map<DatabaseId, KvCounts>();
  readonly #searches = new Map<DatabaseId, SearchCounts>();

  constructor(readonly day: UtcDay) {}

  /** Its databases and search indexes. */
  get size(): number {
    return this.#databases.size + this.#searches.size;
  }

  addKv(database: DatabaseId, usage: KvUsage): void {
    this.#countsOf(database).add(usage);
  }

  addLookups(database: DatabaseId, hits: number, misses: number): void {
    const counts = this.#countsOf(database);
    counts.hits += hits;
    counts.misses += misses;
  }

  addSearch(index: DatabaseId, usage: SearchUsage): void {
    const counts = getOrCreate(this.#searches, index, () => new SearchCounts());
    counts.add(usage);
  }

  /**
   * Removes as many rows as there is room for, those with the oldest counts first.
   * @param connections  of a database, to be added to its row
   */
  cut(room: RecordLimit, maxRows: number, connections: (database: DatabaseId) => number | undefined): CutRows {
    let left = maxRows;
    const fits = (bytes: number) => left-- > 0 && room.takes(bytes);
    return {
      rows: taken(
        this.#databases,
        (counts) => fits(KV_ROW_BYTES + CALL_BYTES * counts.calls.size),
        (database, counts) => counts.row(database, connections(database)),
      ),
      searches: taken(
        this.#searches,
        () => fits(SEARCH_ROW_BYTES),
        (index, counts) => counts.row(index),
      ),
    };
  }

  #countsOf(database: DatabaseId): KvCounts {
    let counts = this.#databases.get(database);
    if (counts === undefined) {
      counts = new KvCounts();
      this.#databases.set(database, counts);
    }
    return counts;
  }
}

/** Takes entries out of a map while there is room. */
export function taken<Key, Value, Row>(
  from: Map<Key, Value>,
  fits: (value: Value) => boolean,
  rowOf: (key: Key, value: Value) => Row,
): Row[] {
  const rows: Row[] = [];
  for (const [key, value] of from) {
    if (!fits(value)) break;
    rows.push(rowOf(key, value));
    from.delete(key);
  }
  return rows;
}

/** The row of a database without use but with connections to report. */
export function idleRow(database: DatabaseId, connections: number): MeterRow {
  return new KvCounts().row(database, connections);
}

function noLatencies(): number[] {
  return new Array(LATENCY_BOUNDS_MS.length + 1).fill(0);
}

function microsOf(durationMs: number): number {
  return Math.round(durationMs * 1000);
}

function count(latencies: number[], durationMs: number): void {
  let at = 0;
  while (at < LATENCY_BOUNDS_MS.length && durationMs > (LATENCY_BOUNDS_MS[at] as number)) at += 1;
  latencies[at] = (latencies[at] as number) + 1;
}
