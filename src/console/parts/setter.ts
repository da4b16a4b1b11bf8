/** A handler that gives a signal a fixed value. */
import type { Signal } from '@preact/signals';

export function setter<T>(signal: Signal<T>, value: NoInfer<T>): () => void {
  return () => {
    signal.value = value;
  };
}
