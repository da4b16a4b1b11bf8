/**
 * Calls by the signal that may interrupt them. A thousand calls share the signal of their owner: it gets one
 * listener, not one for each call.
 */
import type { DeliveryCall } from './delivery-call.js';

export class Interruptions {
  readonly #callsBySignal = new WeakMap<AbortSignal, Set<DeliveryCall>>();

  add(call: DeliveryCall): void {
    this.#callsOf(call.signal).add(call);
  }

  delete(call: DeliveryCall): void {
    this.#callsBySignal.get(call.signal)?.delete(call);
  }

  #callsOf(signal: AbortSignal): Set<DeliveryCall> {
    const known = this.#callsBySignal.get(signal);
    if (known !== undefined) return known;
    const calls = new Set<DeliveryCall>();
    this.#callsBySignal.set(signal, calls);
    const interruptAll = () => {
      for (const call of calls) call.interrupt();
    };
    signal.addEventListener('abort', interruptAll, { once: true });
    return calls;
  }
}
