/** Server-sent events that update a page. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export type LiveState = 'connecting' | 'live' | 'lost';

/**
 * @param path  undefined: no connection
 * @param on  handlers by event name; the data is JSON
 * @returns the state of the connection. The browser reconnects automatically
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

/** The shortest time between two reloads caused by events. */
const LEAST_GAP_MS = 2_000;

/** @returns a function that calls `run` after an event: immediately, or when the gap since the last call is over */
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
