/** Server-sent events: what a page shows changes without being asked for. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export type LiveState = 'connecting' | 'live' | 'lost';

/**
 * @param path  undefined: nothing is listened to
 * @param on  what is done with each kind of event; its data is JSON
 * @returns whether events come. The browser connects again by itself
 */
export function useLive(path: string | undefined, on: Readonly<Record<string, (data: unknown) => void>>): LiveState {
  const state = useSignal<LiveState>('connecting');
  const handlers = useRef(on);
  handlers.current = on;
  useEffect(() => {
    if (path === undefined) return undefined;
    const source = new EventSource(path);
    source.onopen = () => {
      state.value = 'live';
    };
    source.onerror = () => {
      state.value = 'lost';
    };
    for (const name of Object.keys(handlers.current)) {
      source.addEventListener(name, (event) => {
        handlers.current[name]?.(JSON.parse((event as MessageEvent<string>).data));
      });
    }
    return () => source.close();
  }, [path]);
  return state.value;
}

/** So long at least lies between two answers that are asked for because of events, however many come. */
const LEAST_GAP_MS = 2_000;

/** @returns calls `run` when something has happened: at once where it is quiet, else when the gap is over */
export function useWhenHappened(run: () => void): () => void {
  const current = useRef(run);
  current.current = run;
  const state = useRef<{ lastMs: number; timer: ReturnType<typeof setTimeout> | undefined }>({
    lastMs: 0,
    timer: undefined,
  });
  useEffect(() => () => clearTimeout(state.current.timer), []);
  return () => {
    const { lastMs, timer } = state.current;
    if (timer !== undefined) return;
    const left = Math.max(lastMs + LEAST_GAP_MS - performance.now(), 0);
    state.current.timer = setTimeout(() => {
      state.current = { lastMs: performance.now(), timer: undefined };
      current.current();
    }, left);
  };
}
