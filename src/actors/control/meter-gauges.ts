/**
 * What is told as it is now, and not added up: connections of databases, sizes of partitions and indexes. A number that
 * was told stands until another is told.
 *
 *  MG1 connections are told with a change, and otherwise once a minute while there are any: a process that is gone is
 *      known by its silence
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { MeterKvGauge, MeterRow, MeterSearchGauge } from '../../messages/index.js';
import type { KvGauge } from '../../ports/index.js';
import { idleRow, type RecordLimit, taken } from './meter-counts.js';

/** Told again after this, while there are any. */
const TELL_CONNECTIONS_EVERY_MS = 60_000;
const GAUGE_BYTES = 40;
const IDLE_ROW_BYTES = 100;

export class MeterGauges {
  readonly #open = new Map<DatabaseId, number>();
  /** Databases whose number of connections is to be told. */
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

  /** MG1. @param nowMs monotonic */
  passTime(nowMs: number): void {
    if (nowMs - this.#toldAllAtMs < TELL_CONNECTIONS_EVERY_MS) return;
    this.#toldAllAtMs = nowMs;
    for (const database of this.#open.keys()) this.#untold.set(database, true);
  }

  /** They are told with a row that there is anyway; undefined: there never were any. */
  takeConnections(database: DatabaseId): number | undefined {
    const isUntold = this.#untold.delete(database);
    return this.#open.get(database) ?? (isUntold ? 0 : undefined);
  }

  /** Takes out as much as there is room for; rows are of databases that were not used. */
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
