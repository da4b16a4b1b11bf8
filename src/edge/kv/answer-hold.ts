/**
 * The bytes of one answer that count against its tenant's budget.
 *
 *  KAR1 room for a portion is reserved before it is requested, so that concurrent requests do not each take the same
 *       free bytes; the more requests there are, the smaller each portion is
 *  KAR2 the actual bytes count until the client has read them or has disconnected
 */
import type { ByteBudget, Hold } from '../../kernel/index.js';
import type { HttpResponse } from '../http/exchange.js';
import { LEAST_PORTION_BYTES, PORTION_SHARE } from './kv-limits.js';

/** A smaller answer is not counted: the limit on connections bounds them. */
const UNCOUNTED_ANSWER_BYTES = 16 * 1024;

export class AnswerHold {
  #hold: Hold | undefined;
  #endsWithAnswer = false;

  constructor(
    private readonly budget: ByteBudget,
    private readonly tenant: string,
    private readonly response: HttpResponse,
  ) {}

  get isThere(): boolean {
    return this.budget.hasRoom(this.tenant);
  }

  /**
   * `count` has to follow in every case (KAR1: room is reserved before a portion is requested). @returns the bytes
   * that the portion may have
   */
  reserve(mostBytes: number): number {
    const bytes = Math.min(mostBytes, Math.floor(this.budget.leftOf(this.tenant) * PORTION_SHARE));
    if (bytes <= LEAST_PORTION_BYTES) return Math.min(mostBytes, LEAST_PORTION_BYTES);
    this.#hold ??= this.budget.hold(this.tenant);
    return this.#hold.resize(bytes) ? bytes : LEAST_PORTION_BYTES;
  }

  /** Counts the actual bytes of an answer (KAR2). */
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
