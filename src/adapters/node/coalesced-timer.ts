/**
 * Timers without an exact time, coalesced in this thread: all that are due at about the same time fire at one beat. Separate
 * timers would wake an idle process more often, and a wake-up costs more than most of their actions.
 */
import type { Timer } from '../../ports/index.js';

export const BEAT_MS = 250;
/** Recurring actions use every n-th beat, the longest step first, so that equal periods fire together. */
const STEPS_MS = [2000, 1000, 500, BEAT_MS];
/** The part of a period by which it may change for that. */
const PERIOD_KEPT_WITHIN = 1 / 8;

interface Beat {
  readonly actions: Set<() => void>;
  readonly handle: NodeJS.Timeout;
}

/** Beats with waiting actions, by their numbers since this thread began. */
const awaited = new Map<number, Beat>();

/**
 * Too early or late by at most slightly more than half of the delay, and a second; exact after a delay shorter than a
 * beat. An action that recurs immediately has its period within an eighth.
 */
export function coalescedTimer(delayMs: number, action: () => void): Timer {
  if (delayMs < BEAT_MS) {
    const handle = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(handle) };
  }
  const nowMs = performance.now();
  const number = beatFor(delayMs, nowMs);
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

/** The number of the beat for a delay of at least one beat that begins at `nowMs`. */
export function beatFor(delayMs: number, nowMs: number): number {
  const stepMs =
    STEPS_MS.find((ms) => Math.abs(nearest(delayMs, ms) - delayMs) <= delayMs * PERIOD_KEPT_WITHIN) ?? BEAT_MS;
  return nearest(nowMs + delayMs, stepMs) / BEAT_MS;
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
