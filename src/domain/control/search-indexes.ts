/** Search indexes, and the index that each token opens. */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import type { SearchIndex } from './management.js';
import { Owned } from './owned.js';
import type { TokenRole } from './records.js';

export interface SearchTokenOwner {
  readonly index: DatabaseId;
  readonly role: TokenRole;
}

export class SearchIndexRecords {
  /** Includes deleted ones, so that no id is reused. */
  readonly byId = new Map<DatabaseId, SearchIndex>();
  /** Keyed by SHA-256 of the token. */
  readonly tokens = new Map<string, SearchTokenOwner>();
  readonly #owned = new Owned<AccountId, DatabaseId>();
  #liveCount = 0;

  get liveCount(): number {
    return this.#liveCount;
  }

  /** Undefined for a deleted or unknown index. */
  live(id: DatabaseId): SearchIndex | undefined {
    const index = this.byId.get(id);
    return index?.deletedAtMs === undefined ? index : undefined;
  }

  /** Existing indexes, oldest first. */
  of(account: AccountId): SearchIndex[] {
    const indexes = [...this.#owned.of(account)].flatMap((id) => this.byId.get(id) ?? []);
    return indexes.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  countOf(account: AccountId): number {
    return this.#owned.of(account).size;
  }

  put(index: SearchIndex): void {
    const before = this.byId.get(index.id);
    if (before !== undefined) this.#unindex(before);
    this.byId.set(index.id, index);
    const { id, account, tokens, deletedAtMs } = index;
    if (deletedAtMs !== undefined) return;
    this.#liveCount += 1;
    this.#owned.add(account, id);
    if (tokens === undefined) return;
    this.tokens.set(tokens.token.sha256, { index: id, role: 'standard' });
    this.tokens.set(tokens.readOnlyToken.sha256, { index: id, role: 'read-only' });
  }

  #unindex({ id, account, tokens, deletedAtMs }: SearchIndex): void {
    if (deletedAtMs !== undefined) return;
    this.#liveCount -= 1;
    this.#owned.remove(account, id);
    if (tokens === undefined) return;
    this.tokens.delete(tokens.token.sha256);
    this.tokens.delete(tokens.readOnlyToken.sha256);
  }
}
