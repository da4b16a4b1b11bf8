/** What events of search indexes do to the control state. */
import { assert, type DatabaseId, unreachable } from '../../kernel/index.js';
import type { ControlEvent } from './events.js';
import type { SearchIndex } from './management.js';
import type { ControlState } from './state.js';

export type SearchEvent = Extract<
  ControlEvent,
  {
    readonly type: 'SearchIndexCreated' | 'SearchIndexSet' | 'SearchIndexDeleted' | 'SearchTombstoneRestored';
  }
>;

export function evolveSearch(state: ControlState, event: SearchEvent): void {
  switch (event.type) {
    case 'SearchIndexCreated':
      state.search.put({ ...event.index, deletedAtMs: undefined });
      return;
    case 'SearchIndexSet': {
      const { name, account, limits, tokens } = event;
      state.search.put({ ...existing(state, event.index), name, account, limits, tokens });
      return;
    }
    case 'SearchIndexDeleted':
      state.search.put({ ...existing(state, event.index), tokens: undefined, deletedAtMs: event.atMs });
      state.dropCounts(event.index);
      return;
    case 'SearchTombstoneRestored':
      state.search.put({ ...event.index, tokens: undefined });
      return;
    default:
      unreachable(event);
  }
}

function existing(state: ControlState, id: DatabaseId): SearchIndex {
  const index = state.search.byId.get(id);
  assert(index !== undefined, 'an event of a search index that is not there', { index: id });
  return index;
}
