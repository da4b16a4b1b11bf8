/**
 * The thread's side of an audit, and the messages between both sides.
 *
 *  AUW1 only requested texts are sent, so that none pile up for a slow reader
 */
import type { MessagePort } from 'node:worker_threads';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { LogMessage } from '../worker-support.js';

export type ToAudit = { readonly kind: 'more'; readonly count: number };
export type FromAudit =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly code: MillraceError['code']; readonly message: string }
  | LogMessage;

/** Never rejects: an error is sent, and the receiver ends the thread. */
export async function sendTexts(port: MessagePort, texts: AsyncIterable<string>): Promise<void> {
  const tell = (message: FromAudit) => port.postMessage(message);
  const wanted = new WantedTexts();
  port.on('message', ({ count }: ToAudit) => wanted.add(count));
  try {
    for await (const text of texts) {
      await wanted.take();
      tell({ kind: 'text', text });
    }
    tell({ kind: 'end' });
  } catch (error) {
    const code = error instanceof MillraceError ? error.code : 'DEFECT';
    tell({ kind: 'failure', code, message: describeError(error) });
  }
}

/** The number of requested texts that were not sent. */
class WantedTexts {
  #count = 0;
  #wake: (() => void) | undefined;

  add(count: number): void {
    this.#count += count;
    this.#wake?.();
  }

  /** Resolves when one may be sent, and counts it. */
  async take(): Promise<void> {
    while (this.#count === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#count -= 1;
  }
}
