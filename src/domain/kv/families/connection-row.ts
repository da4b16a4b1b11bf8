/**
 * Rows for commands that concern the connection itself. The face that holds the connection answers them; over
 * REST there is none, and they are refused or have a route of their own. The engine never runs them.
 */
import { type CommandSpec, NO_KEYS } from '../command-spec.js';
import { notOverRest } from '../reply.js';

/** What such a row says; `connection` is among its flags without being said. */
export type ConnectionRow = Omit<CommandSpec, 'family' | 'keys' | 'handler' | 'readOnlyToken'> &
  Partial<Pick<CommandSpec, 'keys'>>;

export function connectionRow(row: ConnectionRow): Omit<CommandSpec, 'family'> {
  const refusal = notOverRest(row.name);
  return {
    keys: NO_KEYS,
    rest: 'refused',
    ...row,
    flags: ['connection', ...row.flags],
    handler: () => refusal,
    readOnlyToken: false,
  };
}
