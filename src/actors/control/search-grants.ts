/** Which search index a token opens, looked up in this process's copy of the control state. Nothing is kept here. */
import type { SearchIndex } from '../../domain/control/index.js';
import type { DatabaseId } from '../../kernel/index.js';
import { hashSecret } from '../../messages/index.js';
import type { SearchAccess, SearchGrant } from '../../ports/index.js';
import type { FreshState } from './management-grants.js';

export interface ChangingState extends FreshState {
  whenAccessChanged(listener: () => void): void;
}

export class SearchGrants implements SearchAccess {
  constructor(private readonly view: ChangingState) {}

  grantForSearch(index: DatabaseId, token: string): SearchGrant | undefined {
    this.view.requireFresh();
    const { search } = this.view.state;
    const owner = search.tokens.get(hashSecret(token));
    const found = search.live(index);
    if (owner?.index !== index || found === undefined) return undefined;
    return { index, account: found.account, role: owner.role, limits: found.limits };
  }

  /** Possibly a moment old, as `AccountBook` is. */
  *searchIndexes(): Iterable<SearchIndex> {
    for (const index of this.view.state.search.byId.values()) if (index.deletedAtMs === undefined) yield index;
  }

  whenSearchIndexesChange(listener: () => void): void {
    this.view.whenAccessChanged(listener);
  }
}
