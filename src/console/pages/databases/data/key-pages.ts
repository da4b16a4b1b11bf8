/** Keys that match a filter, loaded page by page while scrolling. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { BEGIN, type KeyListFilter, keysPage, type ListedKey } from './listed-keys.js';

/** Keys held in a page; for more the user has to filter. */
const MAX_HELD_KEYS = 200_000;
/** Consecutive answers without keys before the user is asked whether to continue. */
const MAX_EMPTY_ANSWERS = 40;

export interface KeyPages {
  readonly keys: readonly ListedKey[];
  readonly isLoading: boolean;
  /** All keys are loaded. */
  readonly isWhole: boolean;
  /** Stopped before the end: a button continues. */
  readonly isPaused: boolean;
  readonly error: Error | undefined;
  more(): void;
}

interface State {
  readonly keys: readonly ListedKey[];
  readonly cursor: string;
  readonly isLoading: boolean;
  readonly isPaused: boolean;
  readonly error: Error | undefined;
}

const EMPTY: State = { keys: [], cursor: BEGIN, isLoading: true, isPaused: false, error: undefined };

/** @param round a new number reloads the list */
export function useKeyPages(id: string, filter: KeyListFilter, round: number): KeyPages {
  const state = useSignal<State>(EMPTY);
  const asking = useRef<AbortController | undefined>(undefined);
  const load = async (before: State) => {
    asking.current?.abort();
    const controller = new AbortController();
    asking.current = controller;
    state.value = { ...before, isLoading: true, isPaused: false, error: undefined };
    try {
      const next = await nextPage(id, filter, before, controller.signal);
      if (!controller.signal.aborted) state.value = next;
    } catch (error) {
      if (!controller.signal.aborted)
        state.value = { ...before, isLoading: false, isPaused: true, error: error as Error };
    }
  };
  useEffect(() => {
    void load(EMPTY);
    return () => asking.current?.abort();
  }, [id, filter.match, filter.type, round]);
  const { keys, cursor, isLoading, isPaused, error } = state.value;
  const isWhole = !isLoading && !isPaused && cursor === BEGIN;
  const more = () => {
    if (!isLoading && !isWhole) void load(state.value);
  };
  return { keys, isLoading, isPaused, isWhole, error, more };
}

/** Repeats until an answer has keys, because many later keys may follow an empty answer. */
async function nextPage(id: string, filter: KeyListFilter, before: State, signal: AbortSignal): Promise<State> {
  let { cursor } = before;
  for (let asked = 0; asked < MAX_EMPTY_ANSWERS; asked += 1) {
    const page = await keysPage(id, filter, cursor, signal);
    cursor = page.cursor;
    if (page.keys.length === 0 && cursor !== BEGIN) continue;
    const keys = [...before.keys, ...page.keys];
    const isPaused = keys.length >= MAX_HELD_KEYS && cursor !== BEGIN;
    return { keys, cursor, isLoading: false, isPaused, error: undefined };
  }
  return { ...before, cursor, isLoading: false, isPaused: true, error: undefined };
}
