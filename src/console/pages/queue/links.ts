/** Addresses of the queue's pages, with the selected account. */
import { useLocation } from 'preact-iso/router';
import { type Query, queryText } from '../../api/call.js';

export interface Links {
  /** @param words address parameters, such as `tab` */
  queue(words: Query): string;
  message(id: string): string;
  deadLetters(words?: Query): string;
}

export function useLinks(): Links {
  const { query } = useLocation();
  const { queue } = query;
  return {
    queue: (words) => `/console/queue${queryText({ queue, ...words })}`,
    message: (id) => `/console/messages/${encodeURIComponent(id)}${queryText({ queue })}`,
    deadLetters: (words) => `/console/dead-letters${queryText({ queue, ...words })}`,
  };
}
