/**
 * The newest lines of the audit log. All of them are in the journal; these are what the management API shows.
 *
 *  AL1 at most MAX_AUDIT_ENTRIES, none older than AUDIT_TTL_MS when the newest was written
 *  AL2 numbers grow by one with each entry, whatever was dropped
 *  AL3 of one account at most MAX_AUDIT_PAGE, which is all that it can ask for: whoever changes things all day long
 *      takes the place of nobody else's lines
 */
import type { AccountId } from '../../kernel/index.js';
import { AUDIT_TTL_MS, MAX_AUDIT_ENTRIES, MAX_AUDIT_PAGE } from './limits.js';
import type { AuditEntry } from './management.js';

export class AuditLog {
  /** Oldest first. Those before `#first` are dropped, and so are those in `#gone`. */
  #entries: AuditEntry[] = [];
  #first = 0;
  /** These are the numbers of entries that were dropped for newer ones of the same account. */
  readonly #gone = new Set<number>();
  /** Oldest first, each account's. */
  readonly #byAccount = new Map<AccountId, AuditEntry[]>();
  #lastNumber = 0;

  /** @param keeps false for a copy that nobody asks for it: it only counts */
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
    // Each entry is moved at most once for every entry that is added.
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
      // The oldest of all is the oldest of its account.
      const own = this.#byAccount.get(oldest.account) as AuditEntry[];
      own.shift();
      if (own.length === 0) this.#byAccount.delete(oldest.account);
    }
  }

  #isOver({ atMs }: AuditEntry, nowMs: number): boolean {
    return nowMs - atMs >= AUDIT_TTL_MS;
  }
}
