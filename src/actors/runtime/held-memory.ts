/**
 * What tenants hold of a process's memory, against what there may be for all of them and for one.
 *
 *  HM1 what is held already is never refused: it counts when it is loaded, and may lead beyond a limit
 *  HM2 a tenant may have a share of what there is, so that one alone leaves room for others
 *  HM3 once less than `RESERVED_MEMORY` of it is left, only tenants grow that hold less than an even part
 *  HM4 everything is looked at once a second: what was put away meanwhile counts no longer than that
 */
import type { Log, Timer, Timers } from '../../ports/index.js';

/** The part of the memory that is kept for those who hold little. */
export const RESERVED_MEMORY = 0.1;
const LOOK_EVERY_MS = 1000;
/** Well under a millisecond. */
const STEP_HOLDERS = 1000;
/** The same line again. */
const TELL_EVERY_LOOKS = 60;

export interface HeldMemoryParts<Tenant extends string> {
  readonly timers: Timers;
  readonly log: Log;
  /** The event in the log that says that there is little room left. */
  readonly event: string;
  /** All that is loaded, and what it holds; a tenant may come more than once. Taken in steps. */
  look(): Iterable<readonly [tenant: Tenant, bytes: number]>;
  /** Each time that it has been looked at. */
  looked?(): void;
}

export class HeldMemory<Tenant extends string> {
  #byTenant = new Map<Tenant, number>();
  #timer: Timer | undefined;
  #usedBytes = 0;
  #looksUntilTold = 0;

  constructor(
    /** What all tenants may hold together. */
    readonly limitBytes: number,
    /** What one of them may hold, as a part of that. */
    private readonly share: number,
    private readonly parts: HeldMemoryParts<Tenant>,
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

  /** It holds so much more, or less, than when it was counted last. */
  count(tenant: Tenant, grownBytes: number): void {
    if (grownBytes === 0) return;
    this.#byTenant.set(tenant, this.bytesOf(tenant) + grownBytes);
    this.#usedBytes += grownBytes;
  }

  /** The tenant may grow by so much; less than nothing when it holds too much. */
  freeFor(tenant: Tenant): number {
    const { limitBytes } = this;
    const held = this.bytesOf(tenant);
    const ofTenant = limitBytes * this.share - held;
    const isLarge = held > limitBytes / Math.max(1, this.#byTenant.size);
    const ofAll = limitBytes * (isLarge ? 1 - RESERVED_MEMORY : 1) - this.#usedBytes;
    return Math.floor(Math.min(ofTenant, ofAll));
  }

  /** HM4. */
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
