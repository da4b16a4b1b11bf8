/** The settings of a page are in its address, so that the address can be shared. */
import { useLocation } from 'preact-iso/router';
import { queryText } from './call.js';

export type PageQuery = Readonly<Record<string, string | undefined>>;

/** @returns the address's parameters, and a function that changes some of them; undefined and '' remove one */
export function usePageQuery(): [query: PageQuery, set: (words: PageQuery, replace?: boolean) => void] {
  const { path, query, route } = useLocation();
  const set = (words: PageQuery, replace = true) => {
    // Read from the location now: an earlier change may not be rendered yet.
    const current = Object.fromEntries(new URLSearchParams(location.search));
    const next = Object.fromEntries(Object.entries({ ...current, ...words }).filter(([, value]) => value));
    route(path + queryText(next), replace);
  };
  return [query, set];
}
