/**
 * Members that come and go all the time, in no order. A `Set` in its stead would keep them for long after they have gone:
 * the engine makes it anew every few dozen changes, among what lives long, and until a full collection each of those that
 * it has left keeps whatever was a member then.
 */

/** The place is the gathering's own; -1: it is in none. A member can be in one at a time. */
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

  /** @returns whether it was a member */
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

  /** Those of now: they may leave meanwhile. */
  all(): readonly Member[] {
    return [...this.#members];
  }
}
