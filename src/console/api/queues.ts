/** The queue that pages show: the account's own, or the one in the address. */
import { useLocation } from 'preact-iso/router';
import type { Operations } from '#api';
import { type Asked, useAsk } from './ask.js';
import { manage } from './call.js';

export type QueueAccount = Operations['GET /v2/msgq/users'][number];

export interface QueueView {
  readonly all: readonly QueueAccount[];
  readonly shown: QueueAccount;
}

/** Shown immediately on other pages, until the new answer. */
let known: readonly QueueAccount[] | undefined;

/** @returns data undefined while loading; an account has at least one queue */
export function useQueue(): Asked<QueueView> {
  const { query } = useLocation();
  const asked = useAsk('queues', async () => {
    known = await manage('GET /v2/msgq/users');
    return known;
  });
  const all = asked.data ?? known;
  const shown = all?.find(({ id }) => id === query.queue) ?? all?.[0];
  return { ...asked, data: all === undefined || shown === undefined ? undefined : { all, shown } };
}
