/**
 * An unordered set for members that come and go frequently. A `Set` would keep removed members alive for long: V8
 * reallocates its table every few dozen changes, in the old generation, and each abandoned table references its members
 * until a full garbage collection.
 */

/** The place is managed by the gathering; -1: not a member. An object can be in one gathering at a time. */
export interface Gathered {
  place: number;
}

/** A list up to this length is not shortened. A shortened one has the same cost as the tables above. */
const KEPT_PLACES = 1024;

export class Gathering<Member extends Gathered> {
  /** From `size` on the places are empty. */
  #members: (Member | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(member: Member): void {
    member.place = this.#size;
    this.#members[this.#size] = member;
    this.#size += 1;
  }

  /** @returns true when it was a member */
  delete(member: Member): boolean {
    const { place } = member;
    if (place < 0) return false;
    member.place = -1;
    this.#size -= 1;
    const last = this.#members[this.#size] as Member;
    this.#members[this.#size] = undefined;
    if (last !== member) {
      last.place = place;
      this.#members[place] = last;
    }
    const { length } = this.#members;
    if (length > KEPT_PLACES && this.#size < length / 4) this.#members = this.#members.slice(0, this.#size);
    return true;
  }

  clear(): void {
    for (const member of this.all()) member.place = -1;
    this.#members = [];
    this.#size = 0;
  }

  /** The current members, as a copy: they may leave during iteration. */
  all(): readonly Member[] {
    return this.#members.slice(0, this.#size) as Member[];
  }
}
