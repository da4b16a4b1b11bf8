/**
 * Rows for commands that concern the connection itself. The face that holds the connection answers them; over
 * REST there is none, and they are refused or have a route of their own. The engine never runs them.
 */
import { NO_KEYS } from '../command-spec.js';
import { notOverRest } from '../reply.js';
import { type Row, row } from './rows.js';

/** This is `row`; `connection` is among its flags without being said. */
export function connectionRow(
  name: string,
  arity: number,
  since: string,
  summary: string,
  columns: Pick<Row, 'flags'> & Partial<Row>,
): Row {
  const refusal = notOverRest(name);
  return row(name, arity, since, summary, {
    keys: NO_KEYS,
    rest: 'refused',
    ...columns,
    flags: ['connection', ...columns.flags],
    handler: () => refusal,
    readOnlyToken: false,
  });
}
