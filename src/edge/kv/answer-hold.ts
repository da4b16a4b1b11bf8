/**
 * What the answer of one request holds for its tenant.
 *
 *  KAR1 for a portion room is taken before it is asked for, so that requests that come at once do not each take what is
 *       left; the more there are, the smaller each portion is
 *  KAR2 what is there is counted as it is, until it has been read or its client has gone
 */
import type { ServerResponse } from 'node:http';
import type { ByteBudget, Hold } from '../../kernel/index.js';
import { LEAST_PORTION_BYTES, PORTION_SHARE } from './kv-limits.js';

/** An answer up to this is not counted: the number of connections bounds such answers. */
const UNCOUNTED_ANSWER_BYTES = 16 * 1024;

export class AnswerHold {
  #hold: Hold | undefined;
  #endsWithAnswer = false;

  constructor(
    private readonly budget: ByteBudget,
    private readonly tenant: string,
    private readonly response: ServerResponse,
  ) {}

  get isThere(): boolean {
    return this.budget.hasRoom(this.tenant);
  }

  /** `count` has to follow, whatever comes of it (KAR1). @returns how many bytes the portion may have */
  reserve(mostBytes: number): number {
    const bytes = Math.min(mostBytes, Math.floor(this.budget.leftOf(this.tenant) * PORTION_SHARE));
    if (bytes <= LEAST_PORTION_BYTES) return Math.min(mostBytes, LEAST_PORTION_BYTES);
    this.#hold ??= this.budget.hold(this.tenant);
    return this.#hold.resize(bytes) ? bytes : LEAST_PORTION_BYTES;
  }

  /** (KAR2) */
  count(bytes: number): void {
    if (bytes <= UNCOUNTED_ANSWER_BYTES || this.response.closed) {
      this.free();
      return;
    }
    this.#hold ??= this.budget.hold(this.tenant);
    this.#hold.force(bytes);
    if (this.#endsWithAnswer) return;
    this.#endsWithAnswer = true;
    this.response.once('close', () => this.free());
  }

  free(): void {
    this.#hold?.release();
    this.#hold = undefined;
  }
}
