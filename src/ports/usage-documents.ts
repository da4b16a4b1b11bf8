/** The use of an account in a month, as documents and as webhooks. */
import type { UsageDocument } from '../domain/statistics/index.js';
import type { AccountId } from '../kernel/index.js';
import type { MaybeBehind } from './behind.js';

export interface UsageDocuments {
  /** @param month since 1970. @throws as `Statistics` does, when the read model does not answer */
  documentOf(account: AccountId, month: number): Promise<UsageDocument & MaybeBehind>;
  /** Why no webhook can go to the URL; undefined: it can. */
  refusalOf(url: string): string | undefined;
}
