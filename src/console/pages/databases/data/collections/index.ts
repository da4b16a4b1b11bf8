/** The types whose values are members, page by page. */
import { ARRAY_VALUES } from './array.js';
import type { CollectionKind } from './collection.js';
import { HASH_FIELDS } from './hash.js';
import { LIST_ELEMENTS } from './list.js';
import { SET_MEMBERS } from './set.js';
import { SCORED_MEMBERS } from './sorted-set.js';

export const COLLECTIONS: Readonly<Record<'hash' | 'list' | 'set' | 'zset' | 'array', CollectionKind>> = {
  hash: HASH_FIELDS,
  list: LIST_ELEMENTS,
  set: SET_MEMBERS,
  zset: SCORED_MEMBERS,
  array: ARRAY_VALUES,
};
