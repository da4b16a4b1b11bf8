/**
 * Members that should leave soon, and are handled once they have stayed too long. One timer serves all of them, because
 * a separate one for each would be a large part of the cost of a command.
 */
import { type Gathered, Gathering } from '../../kernel/index.js';
import type { Clock, Timers } from '../../ports/index.js';

export interface Soon extends Gathered {
  /** On the monotonic clock. */
  readonly begunAtMs: number;
}

export class Overdue<Member extends Soon> {
  readonly #members = new Gathering<Member>();
  #isWaiting = false;

  /** @param onOverdue  gets a member after `afterMs`, which is no member any more */
  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly timers: Pick<Timers, 'after'>,
    private readonly afterMs: number,
    private readonly onOverdue: (member: Member) => void,
  ) {}

  add(member: Member): void {
    this.#members.add(member);
    if (!this.#isWaiting) this.#wait(this.afterMs);
  }

  delete(member: Member): void {
    this.#members.delete(member);
  }

  #wait(ms: number): void {
    this.#isWaiting = true;
    this.timers.after(ms, () => this.#look());
  }

  #look(): void {
    this.#isWaiting = false;
    const nowMs = this.clock.monotonicMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const member of this.#members.all()) {
      const leftMs = member.begunAtMs + this.afterMs - nowMs;
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      else if (this.#members.delete(member)) this.onOverdue(member);
    }
    if (nextMs < Number.POSITIVE_INFINITY && !this.#isWaiting) this.#wait(nextMs);
  }
}
