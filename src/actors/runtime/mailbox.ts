/**
 * The bounded queue of an actor, fair between tenants by deficit round robin: a tenant pays for its work in commands,
 * bytes and above all time, from a share that is refilled at each of its turns. A tenant that has overdrawn its share,
 * with a long command, comes after those that have not.
 *
 *  MBX1 at most `maxWorks` and `maxBytes` wait; further works are refused before any execution, and one tenant may
 *       have `TENANT_SHARE` of both, so that others find room
 *  MBX2 the works of one tenant leave in the order of their arrival
 *  MBX3 a tenant with work gets its share within one round, for any number of works of others
 */
import type { Work } from './work.js';

export interface MailboxLimits {
  readonly maxWorks: number;
  readonly maxBytes: number;
  /** The cost that a tenant may spend before the next one's turn. */
  readonly quantum: number;
}

/** The part of the waiting works and bytes that one tenant may have. */
const TENANT_SHARE = 0.75;
/** The minimum cost of a command, in addition to its bytes. */
const COMMAND_COST = 64;
/**
 * With this cost a quantum of 64 KiB is one millisecond, a thousand small commands or 64 KiB of words, the first of
 * them.
 */
const MS_COST = 64 * 1024;

interface TenantQueue<W> {
  readonly tenant: string;
  /** Works before `head` have left and are undefined. */
  works: (W | undefined)[];
  head: number;
  bytes: number;
  deficit: number;
}

export class Mailbox<W extends Work> {
  readonly #queuesByTenant = new Map<string, TenantQueue<W>>();
  #ring: TenantQueue<W>[] = [];
  #turnOf = 0;
  #works = 0;
  #bytes = 0;

  constructor(private readonly limits: MailboxLimits) {}

  get size(): number {
    return this.#works;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @returns false when there is no room (MBX1) */
  push(work: W): boolean {
    const { maxWorks, maxBytes } = this.limits;
    // A single work above the bound is accepted when no other waits, because it could otherwise never enter.
    if (this.#works >= maxWorks || (this.#bytes + work.bytes > maxBytes && this.#works > 0)) return false;
    const own = this.#queuesByTenant.get(work.tenant);
    if (own !== undefined) {
      const isFull = own.works.length - own.head >= maxWorks * TENANT_SHARE;
      if (isFull || own.bytes + work.bytes > maxBytes * TENANT_SHARE) return false;
    }
    const queue = own ?? this.#newQueue(work.tenant);
    queue.works.push(work);
    queue.bytes += work.bytes;
    this.#works += 1;
    this.#bytes += work.bytes;
    return true;
  }

  /** The work to run next; it stays at the head of its tenant's queue until `finish`. */
  next(): W | undefined {
    if (this.#works === 0) return undefined;
    for (;;) {
      const queue = this.#ring[this.#turnOf] as TenantQueue<W>;
      if (queue.deficit > 0) return queue.works[queue.head];
      this.#turnOf = (this.#turnOf + 1) % this.#ring.length;
      (this.#ring[this.#turnOf] as TenantQueue<W>).deficit += this.limits.quantum;
    }
  }

  /** Records the cost of the work from `next`, and whether it leaves. @param ms  for which it held the event loop */
  spend(work: W, commands: number, bytes: number, isFinished: boolean, ms = 0): void {
    const queue = this.#queuesByTenant.get(work.tenant) as TenantQueue<W>;
    queue.deficit -= commands * COMMAND_COST + bytes + ms * MS_COST;
    if (!isFinished) return;
    queue.works[queue.head] = undefined;
    queue.head += 1;
    queue.bytes -= work.bytes;
    this.#works -= 1;
    this.#bytes -= work.bytes;
    if (queue.head === queue.works.length) this.#remove(queue);
    else if (queue.head > 1024 && queue.head * 2 > queue.works.length) {
      queue.works = queue.works.slice(queue.head);
      queue.head = 0;
    }
  }

  /** Removes all waiting works. */
  clear(): W[] {
    const works = this.#ring.flatMap((queue) => queue.works.slice(queue.head) as W[]);
    this.#queuesByTenant.clear();
    this.#ring = [];
    this.#turnOf = 0;
    this.#works = 0;
    this.#bytes = 0;
    return works;
  }

  /** Waiting works, the oldest of each tenant first. */
  *waiting(): IterableIterator<W> {
    for (const queue of this.#ring) {
      for (let i = queue.head; i < queue.works.length; i += 1) yield queue.works[i] as W;
    }
  }

  /** Removes the works for which `leaves` is true. */
  removeWhere(leaves: (work: W) => boolean): W[] {
    const removed: W[] = [];
    for (const work of this.clear()) {
      if (leaves(work)) removed.push(work);
      else this.push(work);
    }
    return removed;
  }

  /** Removes works that entered before the instant and wait for a half-done work of their tenant. */
  takeHeldUp(enteredBeforeMs: number): W[] {
    const taken: W[] = [];
    const isOverdue = (work: W, place: number) => place > 0 && !work.hasBegun && work.enteredAtMs <= enteredBeforeMs;
    for (const queue of this.#ring) {
      const works = queue.works.slice(queue.head) as W[];
      if (works[0]?.isHalfway !== true) continue;
      const overdue = works.filter(isOverdue);
      if (overdue.length === 0) continue;
      queue.works = works.filter((work, place) => !isOverdue(work, place));
      queue.head = 0;
      this.#works -= overdue.length;
      for (const { bytes } of overdue) {
        queue.bytes -= bytes;
        this.#bytes -= bytes;
      }
      taken.push(...overdue);
    }
    return taken;
  }

  #newQueue(tenant: string): TenantQueue<W> {
    const queue: TenantQueue<W> = { tenant, works: [], head: 0, bytes: 0, deficit: 0 };
    this.#queuesByTenant.set(tenant, queue);
    this.#ring.push(queue);
    return queue;
  }

  #remove(queue: TenantQueue<W>): void {
    this.#queuesByTenant.delete(queue.tenant);
    const at = this.#ring.indexOf(queue);
    this.#ring.splice(at, 1);
    // The next tenant has the next turn, with its share.
    if (at <= this.#turnOf) this.#turnOf -= 1;
    if (this.#turnOf < 0) this.#turnOf = Math.max(0, this.#ring.length - 1);
  }
}
