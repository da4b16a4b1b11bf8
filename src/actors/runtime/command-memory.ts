/**
 * The ids of remote callers' commands with effects in the journal. A caller whose owner died asks the successor with
 * the same id, and is told that the command was executed and its reply lost, instead of having it executed twice.
 * Callers repeat for seconds; ids are kept longer, by age and by number, because a limit by age alone would drop all of
 * them when a clock jumps forward.
 */
import { type CommandId, OldestFirst } from '../../kernel/index.js';

/** Kept at any age: ten seconds at ten thousand commands a second. */
const MIN_KEPT = 100_000;
/** The maximum, about 100 MB. */
const MAX_KEPT = 1_000_000;

export class CommandMemory {
  /** Id → journal clock when it was stored; in order of storing. */
  readonly #storedAtMsById = new Map<CommandId, number>();
  readonly #order = new OldestFirst(this.#storedAtMsById);
  #oldest: CommandId | undefined;

  constructor(private readonly keepMs: number) {}

  has(id: CommandId): boolean {
    return this.#storedAtMsById.has(id);
  }

  add(ids: readonly CommandId[], clockMs: number): void {
    for (const id of ids) this.#storedAtMsById.set(id, clockMs);
    for (let { size } = this.#storedAtMsById; size > MIN_KEPT; size -= 1) {
      this.#oldest ??= this.#order.next() as CommandId;
      const isYoung = (this.#storedAtMsById.get(this.#oldest) as number) > clockMs - this.keepMs;
      if (isYoung && size <= MAX_KEPT) break;
      this.#storedAtMsById.delete(this.#oldest);
      this.#oldest = undefined;
    }
  }

  restore(ids: Iterable<readonly [CommandId, number]>): void {
    for (const [id, storedAtMs] of ids) this.#storedAtMsById.set(id, storedAtMs);
  }
}
