/**
 * What an ordered feed brought and its reader has not taken: the seam between callbacks and a loop.
 * Bounded by the server, which waits for an answer to its flow control; those answers stand in the
 * queue between the messages, so that they are given when the reader gets there.
 */
import { MillraceError } from '../../kernel/index.js';
import type { StoredMessage } from '../../ports/index.js';

export type Arrival = StoredMessage | (() => void);

export class Arrivals {
  #items: Array<Arrival> = [];
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(
    readonly timeoutMs: number,
    /** The name that errors give the stream. */
    private readonly name: string,
  ) {}

  push(item: Arrival): void {
    this.#items.push(item);
    this.#wake?.();
  }

  fail(failure: Error): void {
    this.#failure = failure;
    this.#wake?.();
  }

  /**
   * At least one item. Halfway through the wait `onSlow` is called once, to try another server.
   * @throws JOURNAL_UNAVAILABLE when nothing came in time
   */
  async take(onSlow: () => void, details: Record<string, unknown>): Promise<Array<Arrival>> {
    if (this.#items.length === 0 && this.#failure === undefined) await this.#wait(onSlow, details);
    if (this.#failure !== undefined) throw this.#failure;
    const taken = this.#items;
    this.#items = [];
    return taken;
  }

  #wait(onSlow: () => void, details: Record<string, unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const slow = setTimeout(onSlow, this.timeoutMs / 2);
      const late = setTimeout(() => {
        this.#wake = undefined;
        const why = `nothing after ${this.timeoutMs} ms`;
        reject(new MillraceError('JOURNAL_UNAVAILABLE', `${this.name}: the journal stopped sending: ${why}`, details));
      }, this.timeoutMs);
      this.#wake = () => {
        clearTimeout(slow);
        clearTimeout(late);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
