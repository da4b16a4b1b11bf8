/**
 * The newest entries of the audit log, as the management API shows them. The journal has all entries.
 *
 *  AL1 at most MAX_AUDIT_ENTRIES, none older than AUDIT_TTL_MS when the newest was written
 *  AL2 numbers grow by one with each entry, independent of dropped ones
 *  AL3 at most MAX_AUDIT_PAGE entries of one account, the most that it can request: an account with many changes does
 *      not displace the entries of others
 */
import type { AccountId } from '../../kernel/index.js';
import { AUDIT_TTL_MS, MAX_AUDIT_ENTRIES, MAX_AUDIT_PAGE } from './limits.js';
import type { AuditEntry } from './management.js';

export class AuditLog {
  /** Oldest first. Entries before `#first` and those in `#gone` are dropped. */
  #entries: AuditEntry[] = [];
  #first = 0;
  /** Numbers of entries that newer ones of the same account displaced. */
  readonly #gone = new Set<number>();
  /** Entries of each account, oldest first. */
  readonly #byAccount = new Map<AccountId, AuditEntry[]>();
  #lastNumber = 0;

  /** @param keeps false for a copy that is never asked for entries: it only counts */
  constructor(private readonly keeps: boolean = true) {}

  get lastNumber(): number {
    return this.#lastNumber;
  }

  add(entry: AuditEntry): void {
    this.#lastNumber = entry.number;
    if (!this.keeps) return;
    this.#entries.push(entry);
    const own = this.#byAccount.get(entry.account) ?? [];
    this.#byAccount.set(entry.account, own);
    own.push(entry);
    if (own.length > MAX_AUDIT_PAGE) this.#gone.add((own.shift() as AuditEntry).number);
    this.#dropOldest(entry.atMs);
    // Amortised: each entry is moved at most once per added entry.
    if ((this.#first + this.#gone.size) * 2 > this.#entries.length) {
      this.#entries = [...this.all()];
      this.#first = 0;
      this.#gone.clear();
    }
  }

  get size(): number {
    return this.#entries.length - this.#first - this.#gone.size;
  }

  /** Newest first. */
  of(account: AccountId, count: number, nowMs: number): AuditEntry[] {
    const own = this.#byAccount.get(account) ?? [];
    const found: AuditEntry[] = [];
    for (let at = own.length - 1; at >= 0 && found.length < count; at -= 1) {
      const entry = own[at] as AuditEntry;
      if (this.#isOver(entry, nowMs)) break;
      found.push(entry);
    }
    return found;
  }

  /** Oldest first. */
  *all(): Iterable<AuditEntry> {
    for (let at = this.#first; at < this.#entries.length; at += 1) {
      const entry = this.#entries[at] as AuditEntry;
      if (!this.#gone.has(entry.number)) yield entry;
    }
  }

  #dropOldest(nowMs: number): void {
    for (; this.#first < this.#entries.length; this.#first += 1) {
      const oldest = this.#entries[this.#first] as AuditEntry;
      if (this.#gone.delete(oldest.number)) continue;
      if (this.size <= MAX_AUDIT_ENTRIES && !this.#isOver(oldest, nowMs)) return;
      // The oldest entry of all is also the oldest of its account.
      const own = this.#byAccount.get(oldest.account) as AuditEntry[];
      own.shift();
      if (own.length === 0) this.#byAccount.delete(oldest.account);
    }
  }

  #isOver({ atMs }: AuditEntry, nowMs: number): boolean {
    return nowMs - atMs >= AUDIT_TTL_MS;
  }
}
