/**
 * What requests on their way may hold in a process, in bytes: what is received of them, what waits in a transaction,
 * what a connection listens to and watches, what is made as their answer and not read yet. Counted for the process,
 * and for each tenant: a database, an account, or those nobody knows yet.
 *
 *  BB1 growth is asked for before the bytes are there; what is there already (an answer) is always counted
 *  BB2 one tenant may have `TENANT_SHARE` of what there is, so that one alone leaves room for others
 *  BB3 once less than `RESERVED_BUDGET` of it is left, only tenants grow that hold less than an even part
 *  BB4 what nobody has signed in for may have `STRANGERS_SHARE` in all
 *  BB5 what a tenant holds beyond its share, because it is there already, is taken from nobody else's
 */

/** A tenant may have so much of the whole. */
const TENANT_SHARE = 0.5;
const RESERVED_BUDGET = 0.2;
const STRANGERS_SHARE = 0.125;
/** It is the share of a tenant's part: what one answer may hold, so that several of its requests fit beside each other. */
const ANSWER_SHARE = 0.5;

/** Nobody has signed in. */
export const STRANGERS = '';

export interface Tenant {
  readonly name: string;
  bytes: number;
  holds: number;
}

export class ByteBudget {
  readonly #tenants = new Map<string, Tenant>();
  #usedBytes = 0;
  /** The same, of each tenant no more than its share (BB5). */
  #sharedBytes = 0;

  /** @param limitBytes of all tenants together */
  constructor(readonly limitBytes: number) {}

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get tenants(): number {
    return this.#tenants.size;
  }

  /** Nothing larger is ever taken of anybody. */
  get maxTenantBytes(): number {
    return Math.floor(this.limitBytes * TENANT_SHARE);
  }

  /** One answer may have so many. */
  get maxAnswerBytes(): number {
    return Math.floor(this.limitBytes * TENANT_SHARE * ANSWER_SHARE);
  }

  bytesOf(tenant: string): number {
    return this.#tenants.get(tenant)?.bytes ?? 0;
  }

  /** It has to be released once, whatever happens. */
  hold(tenant: string): Hold {
    return new Hold(this, tenant);
  }

  /** Has the tenant room for a request more? Asked before one is begun whose answer may be large. */
  hasRoom(tenant: string): boolean {
    const known = this.#tenants.get(tenant);
    return known === undefined || this.#fits(known, 1);
  }

  /** What the tenant may still ask for, while it holds much and nobody else asks. */
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

/** What one connection or one request holds. */
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

  /** Asks to hold so many bytes. @returns false when there is no room for more: nothing has changed then */
  resize(bytes: number): boolean {
    return this.#set(bytes, false);
  }

  /** Holds so many bytes, which are there already (BB1). */
  force(bytes: number): void {
    this.#set(bytes, true);
  }

  /** Somebody has signed in: what is held is theirs from now on. */
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
