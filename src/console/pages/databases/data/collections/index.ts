/** The types whose values are members, page by page. */
import type { CollectionKind } from './collection.js';
import { HASH } from './hash.js';
import { LIST } from './list.js';
import { SET } from './set.js';
import { SORTED_SET } from './sorted-set.js';

export const COLLECTIONS: Readonly<Record<'hash' | 'list' | 'set' | 'zset', CollectionKind>> = {
  hash: HASH,
  list: LIST,
  set: SET,
  zset: SORTED_SET,
};
