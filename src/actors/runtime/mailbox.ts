/**
 * The bounded queue in front of an actor, fair between tenants by deficit round robin: a tenant spends
 * what its work costs, in commands, bytes and above all time, from a share that is refilled each time its turn
 * comes round. Whoever has overdrawn it, with a long command, comes behind those who have not.
 *
 *  MBX1 at most `maxWorks` and `maxBytes` wait; what comes beyond is refused before anything is executed
 *  MBX2 the works of one tenant leave in the order they came
 *       Of both one tenant may have `TENANT_SHARE`, so that there is always room for another's
 *  MBX3 a tenant with work gets its share within one round, however much the others have queued
 */
import type { Work } from './work.js';

export interface MailboxLimits {
  readonly maxWorks: number;
  readonly maxBytes: number;
  /** Cost a tenant may spend before the next one's turn. */
  readonly quantum: number;
}

/** The part of what may wait that one tenant may have. */
const TENANT_SHARE = 0.75;
/** What a command costs at least, beside its bytes. */
const COMMAND_COST = 64;
/** A quantum of 64 KiB is one millisecond then, a thousand small commands or 64 KiB of words, whichever is first. */
const MS_COST = 64 * 1024;

interface TenantQueue<W> {
  readonly tenant: string;
  works: W[];
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

  /** False when there is no room (MBX1). */
  push(work: W): boolean {
    const { maxWorks, maxBytes } = this.limits;
    // A single work larger than the bound is let in when nothing else waits: it could never enter otherwise.
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

  /** The work to run next; it stays in front of its tenant's queue until `finish`. */
  next(): W | undefined {
    if (this.#works === 0) return undefined;
    for (;;) {
      const queue = this.#ring[this.#turnOf] as TenantQueue<W>;
      if (queue.deficit > 0) return queue.works[queue.head];
      this.#turnOf = (this.#turnOf + 1) % this.#ring.length;
      (this.#ring[this.#turnOf] as TenantQueue<W>).deficit += this.limits.quantum;
    }
  }

  /** Says what was spent on the work that `next` gave, and whether it leaves. @param ms that it held the loop */
  spend(work: W, commands: number, bytes: number, isFinished: boolean, ms = 0): void {
    const queue = this.#queuesByTenant.get(work.tenant) as TenantQueue<W>;
    queue.deficit -= commands * COMMAND_COST + bytes + ms * MS_COST;
    if (!isFinished) return;
    queue.works[queue.head] = undefined as unknown as W;
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

  /** Everything that waits, taken out. */
  clear(): W[] {
    const works = this.#ring.flatMap((queue) => queue.works.slice(queue.head));
    this.#queuesByTenant.clear();
    this.#ring = [];
    this.#turnOf = 0;
    this.#works = 0;
    this.#bytes = 0;
    return works;
  }

  /** The longest waiting works, for those that may not wait any longer. */
  *waiting(): IterableIterator<W> {
    for (const queue of this.#ring) {
      for (let i = queue.head; i < queue.works.length; i += 1) yield queue.works[i] as W;
    }
  }

  /** Takes out the works for which `leaves` is true. */
  removeWhere(leaves: (work: W) => boolean): W[] {
    const removed: W[] = [];
    for (const work of this.clear()) {
      if (leaves(work)) removed.push(work);
      else this.push(work);
    }
    return removed;
  }

  /** Takes out what has waited since before then behind a work of its tenant that is half done. */
  takeHeldUp(enteredBeforeMs: number): W[] {
    const taken: W[] = [];
    const isOverdue = (work: W, place: number) => place > 0 && !work.hasBegun && work.enteredAtMs <= enteredBeforeMs;
    for (const queue of this.#ring) {
      const works = queue.works.slice(queue.head);
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
    // The tenant behind it has the next turn, with its share.
    if (at <= this.#turnOf) this.#turnOf -= 1;
    if (this.#turnOf < 0) this.#turnOf = Math.max(0, this.#ring.length - 1);
  }
}
