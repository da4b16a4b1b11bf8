/** Handlers that set a signal. */
import type { Signal } from '@preact/signals';

/** @returns a handler that gives the signal a fixed value */
export function setter<T>(signal: Signal<T>, value: NoInfer<T>): () => void {
  return () => {
    signal.value = value;
  };
}

/** @returns a handler that inverts the signal */
export function toggler(signal: Signal<boolean>): () => void {
  return () => {
    signal.value = !signal.value;
  };
}
