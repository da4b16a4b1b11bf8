/**
 * Present values, which are not added up: connections of databases, sizes of partitions and indexes. A reported value
 * is valid until the next report.
 *
 *  MG1 connections are reported when they change, and otherwise once a minute while there are any, because an ended
 *      process is known only by its silence
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { KvGauge } from '../../ports/index.js';
import type { MeterKvGauge, MeterRow, MeterSearchGauge } from '../../protocol/index.js';
import { idleRow, type RecordLimit, taken } from './meter-counts.js';

/** Connections are reported again after this time, while there are any. */
const TELL_CONNECTIONS_EVERY_MS = 60_000;
const GAUGE_BYTES = 40;
const IDLE_ROW_BYTES = 100;

export class MeterGauges {
  readonly #open = new Map<DatabaseId, number>();
  /** Databases with a number of connections to report. */
  readonly #untold = new Map<DatabaseId, true>();
  readonly #kv = new Map<string, MeterKvGauge>();
  readonly #searches = new Map<DatabaseId, MeterSearchGauge>();
  #toldAllAtMs = Number.NEGATIVE_INFINITY;

  get isEmpty(): boolean {
    return this.#untold.size === 0 && this.#kv.size === 0 && this.#searches.size === 0;
  }

  connected(database: DatabaseId, change: 1 | -1): void {
    const open = (this.#open.get(database) ?? 0) + change;
    if (open > 0) this.#open.set(database, open);
    else this.#open.delete(database);
    this.#untold.set(database, true);
  }

  setKv({ database, index, keys, storageBytes, epoch }: KvGauge): void {
    this.#kv.set(`${database}:${index}`, { database, index, keys, storageBytes, epoch });
  }

  setSearch(index: DatabaseId, documents: number, storageBytes: number): void {
    this.#searches.set(index, { index, documents, storageBytes });
  }

  /** Marks all connections for a report once a minute (MG1). @param nowMs monotonic */
  passTime(nowMs: number): void {
    if (nowMs - this.#toldAllAtMs < TELL_CONNECTIONS_EVERY_MS) return;
    this.#toldAllAtMs = nowMs;
    for (const database of this.#open.keys()) this.#untold.set(database, true);
  }

  /** The connections to add to a row that is written anyway; undefined when there never were any. */
  takeConnections(database: DatabaseId): number | undefined {
    const isUntold = this.#untold.delete(database);
    return this.#open.get(database) ?? (isUntold ? 0 : undefined);
  }

  /** Takes out as many as there is room for; the rows are of databases without use. */
  cut(room: RecordLimit): { rows: MeterRow[]; kvGauges: MeterKvGauge[]; searchGauges: MeterSearchGauge[] } {
    return {
      rows: taken(
        this.#untold,
        () => room.takes(IDLE_ROW_BYTES),
        (database) => idleRow(database, this.#open.get(database) ?? 0),
      ),
      kvGauges: taken(
        this.#kv,
        () => room.takes(GAUGE_BYTES),
        (_, gauge) => gauge,
      ),
      searchGauges: taken(
        this.#searches,
        () => room.takes(GAUGE_BYTES),
        (_, gauge) => gauge,
      ),
    };
  }
}
