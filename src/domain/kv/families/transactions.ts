/** The Transactions family. Over REST a transaction is one request to `/multi-exec`; see transaction.ts. */
import { type CommandSpec, family } from '../command-spec.js';
import { refusedOverRest } from './refused.js';

export const TRANSACTIONS: readonly CommandSpec[] = family('transactions', [
  refusedOverRest('MULTI', 'other-route', '1.2.0', 'Transactions are requests to /multi-exec.'),
  refusedOverRest('EXEC', 'other-route', '1.2.0', 'Transactions are requests to /multi-exec.'),
  refusedOverRest('DISCARD', 'refused', '2.0.0', 'A transaction arrives whole; there is nothing to discard.'),
  refusedOverRest('WATCH', 'refused', '2.2.0', 'Watching needs a connection.'),
  refusedOverRest('UNWATCH', 'refused', '2.2.0', 'Watching needs a connection.'),
]);
