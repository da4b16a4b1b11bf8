/** The keys that people made to sign in with. */
import type { AccountId, ApiKeyId } from '../../kernel/index.js';
import type { ApiKey } from './management.js';
import { Owned } from './owned.js';

export class ApiKeys {
  readonly byId = new Map<ApiKeyId, ApiKey>();
  /** They are keyed by SHA-256 of the secret. */
  readonly bySecret = new Map<string, ApiKey>();
  readonly #byEmail = new Owned<string, ApiKeyId>();

  put(key: ApiKey): void {
    this.byId.set(key.id, key);
    this.bySecret.set(key.sha256, key);
    this.#byEmail.add(key.email, key.id);
  }

  delete(id: ApiKeyId): void {
    const key = this.byId.get(id);
    if (key === undefined) return;
    this.byId.delete(id);
    this.bySecret.delete(key.sha256);
    this.#byEmail.remove(key.email, id);
  }

  /** Those of one account that are not kept. */
  dropOf(account: AccountId, isKept: (key: ApiKey) => boolean): void {
    for (const key of [...this.byId.values()]) if (key.account === account && !isKept(key)) this.delete(key.id);
  }

  /** Oldest first. */
  of(email: string): ApiKey[] {
    const keys = [...this.#byEmail.of(email)].flatMap((id) => this.byId.get(id) ?? []);
    return keys.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }
}
