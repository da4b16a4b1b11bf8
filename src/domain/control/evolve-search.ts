/** Events of search indexes. */
import { assert, type DatabaseId } from '../../kernel/index.js';
import type { ControlEventOf } from './events.js';
import type { SearchIndex } from './management.js';
import type { ControlState } from './state.js';

export function searchIndexCreated({ index }: ControlEventOf<'SearchIndexCreated'>, state: ControlState): void {
  state.search.put({ ...index, deletedAtMs: undefined });
}

export function searchIndexSet(event: ControlEventOf<'SearchIndexSet'>, state: ControlState): void {
  const { name, account, limits, tokens } = event;
  const before = existing(state, event.index);
  state.search.put({ ...before, name, account, limits, tokens, type: event.plan ?? before.type });
}

export function searchIndexDeleted({ index, atMs }: ControlEventOf<'SearchIndexDeleted'>, state: ControlState): void {
  state.search.put({ ...existing(state, index), tokens: undefined, deletedAtMs: atMs });
  state.dropCounts(index);
}

export function searchTombstoneRestored(
  { index }: ControlEventOf<'SearchTombstoneRestored'>,
  state: ControlState,
): void {
  state.search.put({ ...index, tokens: undefined });
}

function existing(state: ControlState, id: DatabaseId): SearchIndex {
  const index = state.search.byId.get(id);
  assert(index !== undefined, 'an event of a search index that is not there', { index: id });
  return index;
}
