/** Addresses of the pages of runs, with the selected account. */
import { useLocation } from 'preact-iso/router';
import { type Query, queryText } from '../../api/call.js';

export interface RunLinks {
  list(words?: Query): string;
  /** @param createdAt  distinguishes runs that had the same id one after the other */
  run(id: string, createdAt?: number): string;
}

export function useRunLinks(): RunLinks {
  const { queue } = useLocation().query;
  return {
    list: (words) => `/console/workflows${queryText({ queue, ...words })}`,
    run: (id, created) => `/console/workflows/${encodeURIComponent(id)}${queryText({ queue, created })}`,
  };
}
