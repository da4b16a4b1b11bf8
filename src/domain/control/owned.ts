/** An index of ids by their owner. */
import { getOrCreate } from '../../kernel/index.js';

export class Owned<Owner extends string, Id extends string> {
  readonly #idsByOwner = new Map<Owner, Set<Id>>();

  add(owner: Owner, id: Id): void {
    getOrCreate(this.#idsByOwner, owner, () => new Set()).add(id);
  }

  remove(owner: Owner, id: Id): void {
    const ids = this.#idsByOwner.get(owner);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsByOwner.delete(owner);
  }

  of(owner: Owner): ReadonlySet<Id> {
    return this.#idsByOwner.get(owner) ?? NOTHING;
  }
}

const NOTHING: ReadonlySet<never> = new Set();
