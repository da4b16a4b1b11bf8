/**
 * One wake-up for all that is not in a hurry, in this thread: what is due about now runs at the nearest beat. Apart, each
 * timer would wake up a process that has nothing to do, which takes longer than what most of them then do.
 */
import type { Timer } from '../../ports/index.js';

const BEAT_MS = 250;
/** What comes again and again does so at every so many beats, the longest first, so that whatever has such a period meets. */
const STEPS_MS = [2000, 1000, 500, BEAT_MS];
/** The part of a period by which it may change for that. */
const PERIOD_KEPT_WITHIN = 1 / 8;

interface Beat {
  readonly actions: Set<() => void>;
  readonly handle: NodeJS.Timeout;
}

/** Those that somebody waits for, by their numbers since this thread began. */
const awaited = new Map<number, Beat>();

/**
 * Somewhat more than half of the delay too early or too late at most, and a second; exactly after a delay shorter than a
 * beat. Whoever comes again at once has its period within an eighth.
 */
export function onTheBeat(delayMs: number, action: () => void): Timer {
  if (delayMs < BEAT_MS) {
    const handle = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(handle) };
  }
  const nowMs = performance.now();
  const stepMs =
    STEPS_MS.find((ms) => Math.abs(nearest(delayMs, ms) - delayMs) <= delayMs * PERIOD_KEPT_WITHIN) ?? BEAT_MS;
  const number = nearest(nowMs + delayMs, stepMs) / BEAT_MS;
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

function nearest(ms: number, stepMs: number): number {
  return Math.round(ms / stepMs) * stepMs;
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
