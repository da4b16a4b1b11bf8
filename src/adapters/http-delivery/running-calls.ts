/** Calls under way. A thousand of them share the signal of their owner: it gets one listener, not one for each call. */
import { Gathering } from '../../kernel/index.js';
import type { DeliveryCall } from './delivery-call.js';

export class RunningCalls {
  readonly #calls = new Gathering<DeliveryCall>();
  readonly #heard = new WeakSet<AbortSignal>();
  /** Mostly the next call's too. */
  #lastHeard: AbortSignal | undefined;

  add(call: DeliveryCall): void {
    if (call.signal !== this.#lastHeard) this.#hear(call.signal);
    this.#calls.add(call);
  }

  delete(call: DeliveryCall): void {
    this.#calls.delete(call);
  }

  interruptAll(): void {
    for (const call of this.#calls.all()) call.interrupt();
  }

  #hear(signal: AbortSignal): void {
    this.#lastHeard = signal;
    if (this.#heard.has(signal)) return;
    this.#heard.add(signal);
    const interruptOwn = () => {
      for (const call of this.#calls.all()) if (call.signal === signal) call.interrupt();
    };
    signal.addEventListener('abort', interruptOwn, { once: true });
  }
}
