/** Addresses of the pages of runs; the account that is looked at goes along. */
import { useLocation } from 'preact-iso/router';
import { type Query, queryText } from '../../api/call.js';

export interface RunLinks {
  list(words?: Query): string;
  /** @param createdAt  an id may name several runs, one after the other: the moment says which */
  run(id: string, createdAt?: number): string;
}

export function useRunLinks(): RunLinks {
  const { queue } = useLocation().query;
  return {
    list: (words) => `/console/workflows${queryText({ queue, ...words })}`,
    run: (id, created) => `/console/workflows/${encodeURIComponent(id)}${queryText({ queue, created })}`,
  };
}
