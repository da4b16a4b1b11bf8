/**
 * Rows for commands that concern the connection itself. The face that holds the connection answers them; over
 * REST there is none, and they are refused or have a route of their own. The engine never runs them.
 */
import { type CommandFlag, type CommandSpec, type KeySpec, NO_KEYS } from '../command-spec.js';
import { notOverRest } from '../reply.js';

export interface ConnectionRow {
  readonly name: string;
  readonly arity: number;
  /** Beside `connection`, which all of them have. */
  readonly flags: readonly CommandFlag[];
  readonly since: string;
  readonly summary: string;
  readonly rest?: 'refused' | 'other-route';
  readonly keys?: KeySpec;
  readonly keyUse?: readonly string[];
  readonly tips?: readonly string[];
  readonly categories?: readonly string[];
  readonly mayFollowSubscribe?: boolean;
  readonly deviations?: readonly string[];
}

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
