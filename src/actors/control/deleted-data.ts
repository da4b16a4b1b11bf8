/**
 * Makes sure that the data of deleted databases and search indexes is removed, even when the process that deleted them
 * has died. Only the owner of the control shard checks. It asks once for each deletion of the last days, because
 * repeating a removal is harmless.
 */
import type { ControlState } from '../../domain/control/index.js';
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock, DataRemoval, Timer, Timers } from '../../ports/index.js';

export interface DeletedDataPorts {
  readonly removal: DataRemoval;
  /** This process's copy. */
  readonly state: () => ControlState;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** A deletion starts the removal immediately; this check repeats removals that were lost. */
const LOOK_EVERY_MS = 10_000;
/** Longer than an installation is down. */
const LOOKS_BACK_MS = 7 * 86_400_000;

export class DeletedData {
  readonly #asked = new Set<DatabaseId>();
  #timer: Timer | undefined;

  constructor(private readonly ports: DeletedDataPorts) {}

  start(): void {
    this.#timer = this.ports.timers.every(LOOK_EVERY_MS, () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  look(): void {
    const { state, isOwner } = this.ports;
    if (!isOwner()) return;
    const { databases, search } = state();
    for (const { id, partitions, deletedAtMs } of databases.values()) this.#remove(id, partitions, deletedAtMs);
    for (const { id, deletedAtMs } of search.byId.values()) this.#remove(id, 1, deletedAtMs);
  }

  #remove(id: DatabaseId, partitions: number, deletedAtMs: number | undefined): void {
    const { removal, clock } = this.ports;
    if (deletedAtMs === undefined || deletedAtMs < clock.nowMs() - LOOKS_BACK_MS || this.#asked.has(id)) return;
    this.#asked.add(id);
    removal.remove(id, partitions);
  }
}
