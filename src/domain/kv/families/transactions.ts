/** The Transactions family. Over REST a transaction is one request to `/multi-exec`; see transaction.ts. */
import { type CommandFlag, type CommandSpec, family, span } from '../command-spec.js';
import { connectionRow } from './connection-row.js';

const PLAIN: readonly CommandFlag[] = ['noscript', 'loading', 'stale', 'fast'];

export const TRANSACTIONS: readonly CommandSpec[] = family('transactions', [
  connectionRow({
    name: 'MULTI',
    arity: 1,
    flags: PLAIN,
    since: '1.2.0',
    summary: 'Begins a transaction: what follows is queued.',
    rest: 'other-route',
  }),
  connectionRow({
    name: 'EXEC',
    arity: 1,
    flags: ['noscript', 'loading', 'stale'],
    since: '1.2.0',
    summary: 'Runs what is queued, all of it in one step.',
    rest: 'other-route',
  }),
  connectionRow({ name: 'DISCARD', arity: 1, flags: PLAIN, since: '2.0.0', summary: 'Forgets what is queued.' }),
  connectionRow({
    name: 'WATCH',
    keyUse: ['RO'],
    arity: -2,
    flags: PLAIN,
    since: '2.2.0',
    summary: 'Makes EXEC do nothing if a key has changed by then.',
    keys: span(1, -1, 1, 'read'),
    deviations: ['After a change of owner EXEC does nothing, whether or not a key has changed.'],
  }),
  connectionRow({ name: 'UNWATCH', arity: 1, flags: PLAIN, since: '2.2.0', summary: 'Forgets the watched keys.' }),
]);
