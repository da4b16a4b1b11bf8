/** The commands by their words in paths. */
import { FETCH, RANGE, SEARCH } from './read-documents.js';
import type { SearchCommand } from './search-command.js';
import { DELETE_NAMESPACE, INFO, LIST_NAMESPACES, RENAME_NAMESPACE, RESET } from './whole-indexes.js';
import { DELETE, UPSERT_DATA } from './write-documents.js';

export type { SearchCommand } from './search-command.js';

export const SEARCH_COMMANDS: ReadonlyMap<string, SearchCommand> = new Map([
  ['upsert-data', UPSERT_DATA],
  ['search', SEARCH],
  ['fetch', FETCH],
  ['delete', DELETE],
  ['range', RANGE],
  ['reset', RESET],
  ['delete-namespace', DELETE_NAMESPACE],
  ['list-namespaces', LIST_NAMESPACES],
  ['info', INFO],
  ['rename-namespace', RENAME_NAMESPACE],
]);
