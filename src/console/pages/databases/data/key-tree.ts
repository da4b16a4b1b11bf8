/** Keys as folders, split at separators; a folder is loaded when it is opened. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { BEGIN, folderPage, type ListedKey, SEPARATOR } from './listed-keys.js';

/** Direct keys of a folder loaded at a time. */
const STEP_KEYS = 1_000;
/** Answers for one folder before the user is asked whether to continue. */
const MAX_ANSWERS = 60;

export type TreeRow =
  | {
      readonly kind: 'folder';
      readonly prefix: string;
      readonly name: string;
      readonly keys: number;
      readonly depth: number;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'key'; readonly key: ListedKey; readonly depth: number; readonly below: string }
  | {
      readonly kind: 'more';
      readonly prefix: string;
      readonly depth: number;
      readonly isLoading: boolean;
      readonly error: Error | undefined;
    };

interface Level {
  readonly folders: ReadonlyMap<string, number>;
  readonly keys: readonly ListedKey[];
  readonly cursor: string;
  readonly isLoading: boolean;
  readonly isWhole: boolean;
  readonly error: Error | undefined;
}

const NEW_LEVEL: Level = {
  folders: new Map(),
  keys: [],
  cursor: BEGIN,
  isLoading: true,
  isWhole: false,
  error: undefined,
};

export interface KeyTree {
  readonly rows: readonly TreeRow[];
  toggle(prefix: string): void;
  more(prefix: string): void;
}

/** @param type '' for all. @param round a new number reloads the tree, with the same open folders */
export function useKeyTree(id: string, type: string, round: number): KeyTree {
  const levels = useSignal<ReadonlyMap<string, Level>>(new Map());
  const open = useSignal<ReadonlySet<string>>(new Set(['']));
  const life = useRef(new AbortController());
  const put = (prefix: string, level: Level) => {
    levels.value = new Map(levels.value).set(prefix, level);
  };
  const load = async (prefix: string, before: Level) => {
    const { signal } = life.current;
    put(prefix, { ...before, isLoading: true, error: undefined });
    try {
      for await (const level of growing(id, prefix, type, before, signal)) if (!signal.aborted) put(prefix, level);
    } catch (error) {
      if (!signal.aborted)
        put(prefix, { ...(levels.value.get(prefix) ?? before), isLoading: false, error: error as Error });
    }
  };
  useEffect(() => {
    life.current = new AbortController();
    levels.value = new Map();
    for (const prefix of open.value) void load(prefix, NEW_LEVEL);
    return () => life.current.abort();
  }, [id, type, round]);
  const toggle = (prefix: string) => {
    const next = new Set(open.value);
    if (!next.delete(prefix)) next.add(prefix);
    open.value = next;
    if (next.has(prefix) && !levels.value.has(prefix)) void load(prefix, NEW_LEVEL);
  };
  const more = (prefix: string) => {
    const level = levels.value.get(prefix);
    if (level !== undefined && !level.isLoading) void load(prefix, level);
  };
  return { rows: rowsOf('', 0, levels.value, open.value), toggle, more };
}

/** Yields the level after each answer, until it has enough keys. */
async function* growing(
  id: string,
  prefix: string,
  type: string,
  before: Level,
  signal: AbortSignal,
): AsyncGenerator<Level> {
  const enough = before.keys.length + STEP_KEYS;
  let level = before;
  for (let asked = 1; asked <= MAX_ANSWERS; asked += 1) {
    const page = await folderPage(id, prefix, type, level.cursor, signal);
    const folders = new Map(level.folders);
    for (const { name, keys } of page.folders) folders.set(name, (folders.get(name) ?? 0) + keys);
    const keys = page.keys.length === 0 ? level.keys : [...level.keys, ...page.keys];
    const isWhole = page.cursor === BEGIN;
    const isLoading = !isWhole && keys.length < enough && asked < MAX_ANSWERS;
    level = { folders, keys, cursor: page.cursor, isLoading, isWhole, error: undefined };
    yield level;
    if (!isLoading) return;
  }
}

function rowsOf(
  prefix: string,
  depth: number,
  levels: ReadonlyMap<string, Level>,
  open: ReadonlySet<string>,
): TreeRow[] {
  const level = levels.get(prefix);
  if (level === undefined) return [];
  const rows: TreeRow[] = [];
  for (const [name, keys] of [...level.folders].sort(([a], [b]) => byName(a, b))) {
    const below = prefix + name + SEPARATOR;
    const isOpen = open.has(below);
    rows.push({ kind: 'folder', prefix: below, name, keys, depth, isOpen });
    if (isOpen) rows.push(...rowsOf(below, depth + 1, levels, open));
  }
  for (const key of [...level.keys].sort((a, b) => byName(a.name, b.name))) {
    rows.push({ kind: 'key', key, depth, below: prefix });
  }
  if (!level.isWhole) {
    rows.push({ kind: 'more', prefix, depth, isLoading: level.isLoading, error: level.error });
  }
  return rows;
}

/** Sorts 9 before 10. */
const ORDER = new Intl.Collator('en', { numeric: true });

function byName(a: string, b: string): number {
  return ORDER.compare(a, b);
}
