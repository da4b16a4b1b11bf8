/**
 * One wake-up for all that is not in a hurry, in this thread: what is due about now runs at the nearest beat. Apart, each
 * timer would wake up a process that has nothing to do, which takes longer than what most of them then do.
 */
import type { Timer } from '../../ports/index.js';

const BEAT_MS = 250;

interface Beat {
  readonly actions: Set<() => void>;
  readonly handle: NodeJS.Timeout;
}

/** Those that somebody waits for, by their numbers since this thread began. */
const awaited = new Map<number, Beat>();

/** Half a beat too early or too late at most; exactly after a delay shorter than a beat. */
export function onTheBeat(delayMs: number, action: () => void): Timer {
  const nowMs = performance.now();
  const number = Math.round((nowMs + delayMs) / BEAT_MS);
  if (delayMs < BEAT_MS) {
    const handle = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(handle) };
  }
  const beat = awaited.get(number) ?? newBeat(number, nowMs);
  const once = () => action();
  beat.actions.add(once);
  return {
    cancel: () => {
      beat.actions.delete(once);
      if (beat.actions.size > 0 || awaited.get(number) !== beat) return;
      clearTimeout(beat.handle);
      awaited.delete(number);
    },
  };
}

function newBeat(number: number, nowMs: number): Beat {
  const actions = new Set<() => void>();
  const handle = setTimeout(
    () => {
      awaited.delete(number);
      for (const action of actions) action();
    },
    Math.ceil(number * BEAT_MS - nowMs),
  );
  const beat = { actions, handle };
  awaited.set(number, beat);
  return beat;
}
