/**
 * The bytes that one connection holds, counted against the budget of its database, or before sign-in against a common
 * budget of unknown clients.
 *
 *  HB1 the sum is computed from the current state, so bytes are never released twice or forgotten
 *  HB2 a small amount is not counted, because the limit on connections bounds it; most connections hold no more
 *      between two requests
 *  HB3 existing bytes are counted even without room; room for new bytes is requested first
 */
import { type ByteBudget, type Hold, STRANGERS } from '../../kernel/index.js';
import type { RespClient } from './resp-client.js';

export const UNCOUNTED_BYTES = 16 * 1024;

/** The places where a connection holds bytes. */
export interface HoldingParts {
  readonly parser: { readonly heldBytes: number };
  readonly output: { readonly heldBytes: number };
  readonly client: Pick<RespClient, 'grant' | 'lastingBytes'>;
}

export class HeldBytes {
  #hold: Hold | undefined;
  #isClosed = false;
  /** Words of commands that were sent and not answered yet. */
  requestBytes = 0;
  /** Answers that have arrived and are not written yet. */
  answerBytes = 0;

  constructor(
    private readonly budget: ByteBudget,
    private readonly parts: HoldingParts,
    /** Called when counting starts and ends. */
    private readonly onCounted: (isCounted: boolean) => void = () => {},
  ) {}

  get bytes(): number {
    const { parser, output, client } = this.parts;
    return parser.heldBytes + this.requestBytes + this.answerBytes + client.lastingBytes + output.heldBytes;
  }

  /** @returns whether the budget has room for the current bytes and `moreBytes`; if not, the count is unchanged */
  fits(moreBytes = 0): boolean {
    const bytes = this.bytes + moreBytes;
    return bytes > UNCOUNTED_BYTES ? this.#counted().resize(bytes) : this.#uncounted();
  }

  /** No other connection of the tenant holds counted bytes. */
  get isAlone(): boolean {
    return this.budget.bytesOf(this.#tenant) === (this.#hold?.bytes ?? 0);
  }

  /** Counts the current bytes. */
  count(): void {
    const { bytes } = this;
    if (bytes > UNCOUNTED_BYTES) this.#counted().force(bytes);
    else this.#uncounted();
  }

  /** Counts no bytes afterwards. */
  close(): void {
    this.#uncounted();
    this.#isClosed = true;
  }

  get #tenant(): string {
    return this.parts.client.grant?.database ?? STRANGERS;
  }

  #counted(): Hold {
    const tenant = this.#tenant;
    if (this.#hold === undefined) {
      this.#hold = this.budget.hold(tenant);
      if (this.#isClosed) this.#hold.release();
      else this.onCounted(true);
    } else this.#hold.moveTo(tenant);
    return this.#hold;
  }

  #uncounted(): true {
    if (this.#hold === undefined) return true;
    this.#hold.release();
    this.#hold = undefined;
    this.onCounted(false);
    return true;
  }
}
