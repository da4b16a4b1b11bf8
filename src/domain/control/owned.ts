/** Ids by whom they belong to. */
import { obtain } from '../../kernel/index.js';

export class Owned<Owner extends string, Id extends string> {
  readonly #idsByOwner = new Map<Owner, Set<Id>>();

  add(owner: Owner, id: Id): void {
    obtain(this.#idsByOwner, owner, () => new Set()).add(id);
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
