/** What turns a Lua value into bytes, piece by piece: it is bounded, and looks at the clock now and then. */
import type { ByteString } from '../../../kernel/index.js';
import type { State } from './lua-api.js';
import { MAX_COPIED_BYTES, MAX_ITEMS } from './lua-limits.js';
import type { LuaMachine } from './machine.js';

/** Values written, or read, between two looks at the clock. */
export const VALUES_A_LOOK = 1000;

export class ValueWriter {
  readonly #pieces: ByteString[] = [];
  #bytes = 0;
  #values = 0;

  constructor(
    protected readonly machine: LuaMachine,
    protected readonly state: State,
  ) {}

  /** All that was written. */
  text(): ByteString {
    return this.#pieces.join('');
  }

  /** @throws Stopped when it has become too much, or takes too long */
  protected countValue(): void {
    this.#values += 1;
    if (this.#values % VALUES_A_LOOK === 0) this.machine.slices.checkMeter();
    if (this.#values > MAX_ITEMS) this.machine.refuseMemory();
  }

  /** @throws Stopped when it has become too much */
  protected add(piece: ByteString): void {
    this.#bytes += piece.length;
    if (this.#bytes > MAX_COPIED_BYTES) this.machine.refuseMemory();
    this.#pieces.push(piece);
  }
}
