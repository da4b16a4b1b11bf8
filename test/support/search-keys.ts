/** The keys of a search database, by the name of the index. */
import { SEARCH_LAYOUT } from '../../src/domain/search/index.js';
import { bytesOfText } from '../../src/kernel/index.js';

export function documentsKey(name: string): string {
  return SEARCH_LAYOUT.keysOf(bytesOfText(name))[0] as string;
}

export function orderKey(name: string): string {
  return SEARCH_LAYOUT.orderOf(bytesOfText(name));
}
