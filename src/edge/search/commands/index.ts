/** All declared commands of the data plane. */
import type { SearchRoute } from '../search-route.js';
import { FETCH, RANGE, SEARCH_ROUTE } from './read-documents.js';
import {
  DELETE_NAMESPACE,
  INFO,
  LIST_NAMESPACES,
  RENAME_NAMESPACE,
  RESET_ALL_ROUTE,
  RESET_ROUTE,
} from './whole-indexes.js';
import { DELETE, UPSERT_DATA } from './write-documents.js';

export { RESET_ALL_ROUTE };

export const SEARCH_ROUTES: readonly SearchRoute[] = [
  UPSERT_DATA,
  SEARCH_ROUTE,
  FETCH,
  DELETE,
  RANGE,
  RESET_ROUTE,
  RESET_ALL_ROUTE,
  DELETE_NAMESPACE,
  RENAME_NAMESPACE,
  LIST_NAMESPACES,
  INFO,
];
