/**
 * Ids of remote callers' commands whose effects are in the journal. A caller whose owner died asks the
 * successor with the same id, and is told "executed, reply lost" instead of having it executed twice.
 * Callers repeat for seconds; ids are kept for longer.
 */
import type { CommandId } from '../../kernel/index.js';

export class CommandMemory {
  /** Id → journal clock when it was stored; in order of storing. */
  readonly #storedAtMsById = new Map<CommandId, number>();

  constructor(private readonly keepMs: number) {}

  has(id: CommandId): boolean {
    return this.#storedAtMsById.has(id);
  }

  add(ids: readonly CommandId[], clockMs: number): void {
    for (const id of ids) this.#storedAtMsById.set(id, clockMs);
    for (const [id, storedAtMs] of this.#storedAtMsById) {
      if (storedAtMs > clockMs - this.keepMs) break;
      this.#storedAtMsById.delete(id);
    }
  }

  restore(ids: Iterable<readonly [CommandId, number]>): void {
    for (const [id, storedAtMs] of ids) this.#storedAtMsById.set(id, storedAtMs);
  }
}
