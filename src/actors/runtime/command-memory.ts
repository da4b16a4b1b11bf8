/**
 * Ids of remote callers' commands whose effects are in the journal. A caller whose owner died asks the
 * successor with the same id, and is told "executed, reply lost" instead of having it executed twice.
 * Callers repeat for seconds; ids are kept for longer, by age and by number: an age alone would forget all
 * of them when a clock jumps forward (seed 238 of the simulation).
 */
import type { CommandId } from '../../kernel/index.js';

/** Kept whatever their age: ten seconds at ten thousand commands a second. */
const MIN_KEPT = 100_000;
/** Never more than this, about 100 MB. */
const MAX_KEPT = 1_000_000;

type Stored = readonly [id: CommandId, storedAtMs: number];

export class CommandMemory {
  /** Id → journal clock when it was stored; in order of storing. */
  readonly #storedAtMsById = new Map<CommandId, number>();
  /** Goes on where it was: a map read from its beginning is searched past all that was removed there. */
  #order: Iterator<Stored> = this.#storedAtMsById.entries();
  #oldest: Stored | undefined;

  constructor(private readonly keepMs: number) {}

  has(id: CommandId): boolean {
    return this.#storedAtMsById.has(id);
  }

  add(ids: readonly CommandId[], clockMs: number): void {
    for (const id of ids) this.#storedAtMsById.set(id, clockMs);
    for (let { size } = this.#storedAtMsById; size > MIN_KEPT; size -= 1) {
      this.#oldest ??= this.#following();
      const [id, storedAtMs] = this.#oldest;
      const isYoung = storedAtMs > clockMs - this.keepMs;
      if (isYoung && size <= MAX_KEPT) break;
      this.#storedAtMsById.delete(id);
      this.#oldest = undefined;
    }
  }

  restore(ids: Iterable<Stored>): void {
    for (const [id, storedAtMs] of ids) this.#storedAtMsById.set(id, storedAtMs);
  }

  #following(): Stored {
    let { done, value } = this.#order.next();
    if (done === true) {
      this.#order = this.#storedAtMsById.entries();
      ({ done, value } = this.#order.next());
    }
    return value as Stored;
  }
}
