/** Every command of the data plane, by declaration. */
import type { SearchRoute } from '../search-route.js';
import { FETCH, RANGE, SEARCH } from './read-documents.js';
import { DELETE_NAMESPACE, INFO, LIST_NAMESPACES, RENAME_NAMESPACE, RESET, RESET_ALL } from './whole-indexes.js';
import { DELETE, UPSERT_DATA } from './write-documents.js';

export const SEARCH_ROUTES: readonly SearchRoute[] = [
  UPSERT_DATA,
  SEARCH,
  FETCH,
  DELETE,
  RANGE,
  RESET,
  RESET_ALL,
  DELETE_NAMESPACE,
  RENAME_NAMESPACE,
  LIST_NAMESPACES,
  INFO,
];
