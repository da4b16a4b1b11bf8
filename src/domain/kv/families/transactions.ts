/** The Transactions family. Over REST a transaction is one request to `/multi-exec`; see transaction.ts. */
import { type CommandFlag, type CommandSpec, span } from '../command-spec.js';
import { connectionRow } from './connection-row.js';
import { family } from './rows.js';

const PLAIN: readonly CommandFlag[] = ['noscript', 'loading', 'stale', 'fast'];

export const TRANSACTIONS: readonly CommandSpec[] = family('transactions', [
  connectionRow('MULTI', 1, '1.2.0', 'Begins a transaction: what follows is queued.', {
    flags: PLAIN,
    rest: 'other-route',
  }),
  connectionRow('EXEC', 1, '1.2.0', 'Runs what is queued, all of it in one step.', {
    flags: ['noscript', 'loading', 'stale'],
    rest: 'other-route',
  }),
  connectionRow('DISCARD', 1, '2.0.0', 'Forgets what is queued.', { flags: PLAIN }),
  connectionRow('WATCH', -2, '2.2.0', 'Makes EXEC do nothing if a key has changed by then.', {
    keyUse: ['RO'],
    flags: PLAIN,
    keys: span(1, -1, 1, 'read'),
    deviations: ['After a change of owner EXEC does nothing, whether or not a key has changed.'],
  }),
  connectionRow('UNWATCH', 1, '2.2.0', 'Forgets the watched keys.', { flags: PLAIN }),
]);
