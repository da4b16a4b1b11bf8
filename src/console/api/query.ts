/** What a page is set to is in its address, so that the address can be sent to a colleague. */
import { useLocation } from 'preact-iso/router';
import { queryText } from './call.js';

export type PageQuery = Readonly<Record<string, string | undefined>>;

/** @returns the address's words, and how to change some of them; undefined and '' take one away */
export function usePageQuery(): [query: PageQuery, set: (words: PageQuery, replace?: boolean) => void] {
  const { path, query, route } = useLocation();
  const set = (words: PageQuery, replace = true) => {
    // As it is at this moment: what was set just before may not have been drawn yet.
    const current = Object.fromEntries(new URLSearchParams(location.search));
    const next = Object.fromEntries(Object.entries({ ...current, ...words }).filter(([, value]) => value));
    route(path + queryText(next), replace);
  };
  return [query, set];
}
