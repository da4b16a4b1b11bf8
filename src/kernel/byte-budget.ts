/**
 * A budget for the bytes that requests hold in a process: received data, queued transactions, subscriptions and watched
 * keys of connections, and answers that were not read yet. It is counted for the process and for each tenant: a
 * database, an account, or all connections that have not signed in.
 *
 *  BB1 memory is requested before it is allocated; memory that already exists (an answer) is always counted
 *  BB2 one tenant may hold at most `TENANT_SHARE` of the budget, so that others keep room
 *  BB3 when less than `RESERVED_BUDGET` is left, only tenants that hold less than an equal share may grow
 *  BB4 connections that have not signed in may hold at most `STRANGERS_SHARE` in total
 *  BB5 bytes that a tenant holds beyond its share, because they already existed, do not reduce the room of others
 */

/** The share of the budget for one tenant. */
const TENANT_SHARE = 0.5;
const RESERVED_BUDGET = 0.2;
const STRANGERS_SHARE = 0.125;
/** The share of a tenant's part for one answer, so that several of its requests fit. */
const ANSWER_SHARE = 0.5;

/** The tenant of connections that have not signed in. */
export const STRANGERS = '';

export interface Tenant {
  readonly name: string;
  bytes: number;
  holds: number;
}

export class ByteBudget {
  readonly #tenants = new Map<string, Tenant>();
  #usedBytes = 0;
  /**
   * As above, but counting at most its share for each tenant (BB5: bytes beyond it do not reduce the room of others).
   */
  #sharedBytes = 0;

  /** @param limitBytes for all tenants together */
  constructor(readonly limitBytes: number) {}

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get tenants(): number {
    return this.#tenants.size;
  }

  /** The most bytes that one tenant may hold, and so the largest single request. */
  get maxTenantBytes(): number {
    return Math.floor(this.limitBytes * TENANT_SHARE);
  }

  get maxAnswerBytes(): number {
    return Math.floor(this.limitBytes * TENANT_SHARE * ANSWER_SHARE);
  }

  bytesOf(tenant: string): number {
    return this.#tenants.get(tenant)?.bytes ?? 0;
  }

  /** Must be released exactly once. */
  hold(tenant: string): Hold {
    return new Hold(this, tenant);
  }

  /** Whether the tenant has room for another request. Asked before a request with a possibly large answer. */
  hasRoom(tenant: string): boolean {
    const known = this.#tenants.get(tenant);
    return known === undefined || this.#fits(known, 1);
  }

  /** The bytes that the tenant may still request while it holds much and no other tenant grows. */
  leftOf(tenant: string): number {
    const { limitBytes } = this;
    const ofTenant = this.#shareOf(tenant) - this.bytesOf(tenant);
    return Math.max(0, Math.min(ofTenant, limitBytes * (1 - RESERVED_BUDGET) - this.#sharedBytes));
  }

  /** @internal */
  enter(name: string): Tenant {
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) {
      tenant = { name, bytes: 0, holds: 0 };
      this.#tenants.set(name, tenant);
    }
    tenant.holds += 1;
    return tenant;
  }

  /** @internal */
  leave(tenant: Tenant): void {
    tenant.holds -= 1;
    if (tenant.holds === 0) this.#tenants.delete(tenant.name);
  }

  /** @internal */
  take(tenant: Tenant, bytes: number, isThere: boolean): boolean {
    if (bytes > 0 && !isThere && !this.#fits(tenant, bytes)) return false;
    const most = this.#shareOf(tenant.name);
    this.#sharedBytes += Math.min(tenant.bytes + bytes, most) - Math.min(tenant.bytes, most);
    tenant.bytes += bytes;
    this.#usedBytes += bytes;
    return true;
  }

  #shareOf(name: string): number {
    return this.limitBytes * (name === STRANGERS ? STRANGERS_SHARE : TENANT_SHARE);
  }

  #fits(tenant: Tenant, bytes: number): boolean {
    const { limitBytes } = this;
    const after = tenant.bytes + bytes;
    if (after > this.#shareOf(tenant.name)) return false;
    const isLarge = after > limitBytes / Math.max(1, this.#tenants.size);
    return this.#sharedBytes + bytes <= limitBytes * (isLarge ? 1 - RESERVED_BUDGET : 1);
  }
}

/** The bytes held by one connection or request. */
export class Hold {
  #tenant: Tenant;
  #bytes = 0;
  #isReleased = false;

  constructor(
    private readonly budget: ByteBudget,
    tenant: string,
  ) {
    this.#tenant = budget.enter(tenant);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Requests to hold so many bytes. @returns false, without a change, when there is no room */
  resize(bytes: number): boolean {
    return this.#set(bytes, false);
  }

  /** Holds so many bytes, which already exist (BB1: they are always counted). */
  force(bytes: number): void {
    this.#set(bytes, true);
  }

  /** The connection has signed in: its bytes count for that tenant from now on. */
  moveTo(name: string): void {
    if (this.#isReleased || name === this.#tenant.name) return;
    const bytes = this.#bytes;
    this.#set(0, true);
    this.budget.leave(this.#tenant);
    this.#tenant = this.budget.enter(name);
    this.#set(bytes, true);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#set(0, true);
    this.#isReleased = true;
    this.budget.leave(this.#tenant);
  }

  #set(bytes: number, isThere: boolean): boolean {
    if (bytes === this.#bytes) return true;
    if (this.#isReleased || !this.budget.take(this.#tenant, bytes - this.#bytes, isThere)) return false;
    this.#bytes = bytes;
    return true;
  }
}
