/**
 * The memory that tenants use in a process, with a bound for all and one for each.
 *
 *  HM1 loaded data is never refused: it is counted, and may exceed a bound
 *  HM2 a tenant may have a share of the memory, so that it leaves room for others
 *  HM3 when less than `RESERVED_MEMORY` is left, only tenants grow that hold less than an even part
 *  HM4 all data is counted again once a second, so unloaded data counts no longer than that
 */
import type { Log, Timer, Timers } from '../../ports/index.js';

/** The part of the memory that is reserved for tenants with little data. */
export const RESERVED_MEMORY = 0.1;
const LOOK_EVERY_MS = 1000;
/** Takes well under a millisecond. */
const STEP_HOLDERS = 1000;
/** Counts between two equal log lines. */
const TELL_EVERY_LOOKS = 60;

export interface MemoryReservationParts<Tenant extends string> {
  readonly timers: Timers;
  readonly log: Log;
  /** The event in the log when there is little room left. */
  readonly event: string;
  /** All loaded data with its size; a tenant may occur more than once. Read in steps. */
  look(): Iterable<readonly [tenant: Tenant, bytes: number]>;
  /** Called after each complete count. */
  looked?(): void;
}

export class MemoryReservation<Tenant extends string> {
  #byTenant = new Map<Tenant, number>();
  #timer: Timer | undefined;
  #usedBytes = 0;
  #looksUntilTold = 0;

  constructor(
    /** The bound of all tenants together. */
    readonly limitBytes: number,
    /** The bound of one tenant, as a part of that. */
    private readonly share: number,
    private readonly parts: MemoryReservationParts<Tenant>,
  ) {}

  start(): void {
    this.#timer = this.parts.timers.roughlyAfter(LOOK_EVERY_MS, () =>
      this.#lookOn(this.parts.look()[Symbol.iterator](), new Map()),
    );
  }

  stop(): void {
    this.#timer?.cancel();
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  bytesOf(tenant: Tenant): number {
    return this.#byTenant.get(tenant) ?? 0;
  }

  /** Adds a change of size since the last count. */
  count(tenant: Tenant, grownBytes: number): void {
    if (grownBytes === 0) return;
    this.#byTenant.set(tenant, this.bytesOf(tenant) + grownBytes);
    this.#usedBytes += grownBytes;
  }

  /** How much the tenant may grow; negative when it holds too much. */
  freeFor(tenant: Tenant): number {
    const { limitBytes } = this;
    const held = this.bytesOf(tenant);
    const ofTenant = limitBytes * this.share - held;
    const isLarge = held > limitBytes / Math.max(1, this.#byTenant.size);
    const ofAll = limitBytes * (isLarge ? 1 - RESERVED_MEMORY : 1) - this.#usedBytes;
    return Math.floor(Math.min(ofTenant, ofAll));
  }

  /** Counts some of the data (HM4). */
  #lookOn(holders: Iterator<readonly [Tenant, number]>, sums: Map<Tenant, number>): void {
    for (let looked = 0; looked < STEP_HOLDERS; looked += 1) {
      const next = holders.next();
      if (next.done === true) {
        this.#put(sums);
        return;
      }
      const [tenant, bytes] = next.value;
      sums.set(tenant, (sums.get(tenant) ?? 0) + bytes);
    }
    this.#timer = this.parts.timers.after(0, () => this.#lookOn(holders, sums));
  }

  #put(sums: Map<Tenant, number>): void {
    this.#byTenant = sums;
    this.#usedBytes = 0;
    for (const bytes of sums.values()) this.#usedBytes += bytes;
    const { limitBytes, usedBytes } = this;
    this.#looksUntilTold -= 1;
    if (usedBytes > limitBytes * (1 - RESERVED_MEMORY) && this.#looksUntilTold <= 0) {
      this.#looksUntilTold = TELL_EVERY_LOOKS;
      this.parts.log.warn(this.parts.event, { usedBytes, limitBytes });
    }
    this.parts.looked?.();
    this.start();
  }
}
