/**
 * The queue of messages that an ordered feed has received and its reader has not taken, between callbacks and a loop.
 * The server bounds it, because it waits for an answer to its flow control. Those answers are in the queue
 * between the messages, and are sent when the reader reaches them.
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
   * @throws JOURNAL_UNAVAILABLE when no message came in time
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
        const why = `no message within ${this.timeoutMs} ms`;
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
