/**
 * What one connection holds, in bytes, counted for the database it has signed in to, and before that for strangers.
 *
 *  HB1 the sum is made anew from what is there: nothing has to be given back by whoever took it
 *  HB2 so little is not counted that the number of connections bounds it; most hold no more between two requests
 *  HB3 what is there already is counted whether there is room or not, what is about to come is asked for
 */
import { type ByteBudget, type Hold, STRANGERS } from '../../kernel/index.js';
import type { RespClient } from './resp-client.js';

export const UNCOUNTED_BYTES = 16 * 1024;

/** Where a connection keeps what it holds. */
export interface HoldingParts {
  readonly parser: { readonly heldBytes: number };
  readonly output: { readonly heldBytes: number };
  readonly client: Pick<RespClient, 'grant' | 'lastingBytes'>;
}

export class HeldBytes {
  #hold: Hold | undefined;
  #isClosed = false;
  /** Words of commands that are asked for, and not answered yet. */
  requestBytes = 0;
  /** Answers that are there, and not written yet. */
  answerBytes = 0;

  constructor(
    private readonly budget: ByteBudget,
    private readonly parts: HoldingParts,
    /** Told when it begins to be counted, and when it ends. */
    private readonly onCounted: (isCounted: boolean) => void = () => {},
  ) {}

  get bytes(): number {
    const { parser, output, client } = this.parts;
    return parser.heldBytes + this.requestBytes + this.answerBytes + client.lastingBytes + output.heldBytes;
  }

  /** @returns is there room for what there is, and for so many bytes more? If not, nothing has changed */
  fits(moreBytes = 0): boolean {
    const bytes = this.bytes + moreBytes;
    return bytes > UNCOUNTED_BYTES ? this.#counted().resize(bytes) : this.#uncounted();
  }

  /** Nobody else of the same tenant holds anything. */
  get isAlone(): boolean {
    return this.budget.bytesOf(this.#tenant) === (this.#hold?.bytes ?? 0);
  }

  /** Counts what there is. */
  count(): void {
    const { bytes } = this;
    if (bytes > UNCOUNTED_BYTES) this.#counted().force(bytes);
    else this.#uncounted();
  }

  /** It stays closed for good. */
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
