/** Hook for a request of a page: sent when the page opens, when its key changes, and at intervals. */
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { CallError } from './call.js';

export interface Asked<T> {
  /** The newest answer; it stays during a reload and after a failed one. */
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  readonly isLoading: boolean;
  /** Resolves when the answer has arrived, or another request has replaced this one. */
  reload(): Promise<void>;
}

/** The shortest refresh interval; faster changes come as events. */
export const LEAST_REFRESH_MS = 5_000;

interface State<T> {
  readonly key: string;
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  readonly isLoading: boolean;
}

/**
 * @param key  identifies the request: another key sends a new one and drops the old answer. Undefined: no request
 * @param everyMs  refresh interval while the page is visible; at least `LEAST_REFRESH_MS`
 */
export function useAsk<T>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
  everyMs?: number,
): Asked<T> {
  const state = useSignal<State<T>>({ key: '', data: undefined, error: undefined, isLoading: true });
  const current = useRef(ask);
  current.current = ask;
  const asking = useRef<AbortController | undefined>(undefined);
  const reload = useCallback(async () => {
    if (key !== undefined) await load(key, state, current, asking);
  }, [key]);
  useEffect(() => {
    void reload();
    return () => asking.current?.abort();
  }, [reload]);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') void reload();
      },
      Math.max(everyMs, LEAST_REFRESH_MS),
    );
    return () => clearInterval(timer);
  }, [reload, everyMs]);
  const { value } = state;
  const isOfKey = value.key === key;
  return {
    data: isOfKey ? value.data : undefined,
    error: isOfKey ? value.error : undefined,
    isLoading: key !== undefined && (!isOfKey || value.isLoading),
    reload,
  };
}

async function load<T>(
  key: string,
  state: Signal<State<T>>,
  ask: { readonly current: (signal: AbortSignal) => Promise<T> },
  asking: { current: AbortController | undefined },
): Promise<void> {
  asking.current?.abort();
  const controller = new AbortController();
  asking.current = controller;
  const before = state.value.key === key ? state.value.data : undefined;
  state.value = { key, data: before, error: undefined, isLoading: true };
  try {
    const data = await patiently(ask.current, controller.signal);
    if (!controller.signal.aborted) state.value = { key, data, error: undefined, isLoading: false };
  } catch (error) {
    if (controller.signal.aborted) return;
    const failure = error instanceof CallError ? error : new CallError(0, String(error));
    state.value = { key, data: before, error: failure, isLoading: false };
  }
}

/** A temporary refusal is retried this often, after the time that the server names; then it is an error. */
const MOST_REPEATS = 3;
const LONGEST_PATIENCE_S = 5;

async function patiently<T>(ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await ask(signal);
    } catch (error) {
      const after = error instanceof CallError && error.status === 503 ? error.retryAfterSeconds : undefined;
      if (after === undefined || after > LONGEST_PATIENCE_S || repeats === MOST_REPEATS || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, after * 1_000));
    }
  }
}
