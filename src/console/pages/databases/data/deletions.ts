/** Keys that are deleted from the page: hidden immediately, and deleted after the time for undo. */
import { type Signal, signal } from '@preact/signals';
import { CallError } from '../../../api/call.js';
import { pipeline, shownOf, wordOf } from '../../../api/kv.js';
import { withUndo } from '../../../parts/toast.js';

/** Commands of one request. */
const BATCH_KEYS = 500;
const SHOWN_CHARACTERS = 80;

/** By database and name: whether the deletion was sent. */
const goneByDatabase = new Map<string, Signal<ReadonlyMap<string, boolean>>>();

/** Names that lists hide. */
export function goneKeys(id: string): Signal<ReadonlyMap<string, boolean>> {
  const known = goneByDatabase.get(id) ?? signal<ReadonlyMap<string, boolean>>(new Map());
  goneByDatabase.set(id, known);
  return known;
}

export function deleteKeys(id: string, names: readonly string[]): void {
  const gone = goneKeys(id);
  const mark = (isSent: boolean) => {
    gone.value = new Map([...gone.value, ...names.map((name) => [name, isSent] as const)]);
  };
  mark(false);
  const send = async () => {
    await unlink(id, names);
    mark(true);
  };
  const [first = ''] = names;
  const label = names.length === 1 ? shownOf(first).slice(0, SHOWN_CHARACTERS) : `${names.length} keys`;
  withUndo(`Deleting ${label} …`, send, () => keysAreBack(id, names));
}

/** Shows keys that were created again or not deleted. */
export function keysAreBack(id: string, names: readonly string[]): void {
  const gone = goneKeys(id);
  gone.value = new Map([...gone.value].filter(([name]) => !names.includes(name)));
}

/** Forgets sent deletions: a new list shows such a key only if it was created again. */
export function forgetSent(id: string): void {
  const gone = goneKeys(id);
  gone.value = new Map([...gone.value].filter(([, isSent]) => !isSent));
}

/** One command per key: the keys of one command would have to be in one partition. @throws CallError */
async function unlink(id: string, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += BATCH_KEYS) {
    const batch = names.slice(at, at + BATCH_KEYS);
    const results = await pipeline(
      id,
      batch.map((name) => ['UNLINK', wordOf(name)]),
    );
    for (const result of results) if ('error' in result) throw new CallError(400, result.error);
  }
}
