/**
 * An unordered set for members that come and go frequently. A `Set` would keep removed members alive for long: V8
 * reallocates its table every few dozen changes, in the old generation, and each abandoned table references its members
 * until a full garbage collection.
 */

/** The place is managed by the gathering; -1: not a member. An object can be in one gathering at a time. */
export interface Gathered {
  place: number;
}

export class Gathering<Member extends Gathered> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** @returns true when it was a member */
  delete(member: Member): boolean {
    const { place } = member;
    if (place < 0) return false;
    member.place = -1;
    const last = this.#members.pop() as Member;
    if (last !== member) {
      last.place = place;
      this.#members[place] = last;
    }
    return true;
  }

  clear(): void {
    for (const member of this.#members.splice(0)) member.place = -1;
  }

  /** The current members, as a copy: they may leave during iteration. */
  all(): readonly Member[] {
    return [...this.#members];
  }
}
