/** The Transactions family. A REST transaction is one request to `/multi-exec`; see transaction.ts. */

import { type CommandFlag, span } from '../command-description.js';
import type { CommandSpec } from '../command-spec.js';
import { connectionRow } from './connection-row.js';
import { family } from './rows.js';

const PLAIN: readonly CommandFlag[] = ['noscript', 'loading', 'stale', 'fast'];

export const TRANSACTIONS: readonly CommandSpec[] = family('transactions', [
  connectionRow('MULTI', 1, '1.2.0', 'Begins a transaction: further commands are queued.', {
    flags: PLAIN,
    rest: 'other-route',
  }),
  connectionRow('EXEC', 1, '1.2.0', 'Runs the queued commands in one step.', {
    flags: ['noscript', 'loading', 'stale', 'skip-slowlog'],
    rest: 'other-route',
  }),
  connectionRow('DISCARD', 1, '2.0.0', 'Discards the queued commands.', { flags: PLAIN }),
  connectionRow('WATCH', -2, '2.2.0', 'Makes EXEC run no commands if a key has changed.', {
    keyUse: ['RO'],
    flags: PLAIN,
    keys: span(1, -1, 1, 'read'),
    deviations: ['After a change of owner EXEC runs no commands, even if no key has changed.'],
  }),
  connectionRow('UNWATCH', 1, '2.2.0', 'Forgets the watched keys.', { flags: PLAIN }),
]);
