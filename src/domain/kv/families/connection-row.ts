/**
 * Rows of commands that concern the connection itself. The endpoint that holds the connection answers them; over REST
 * they are refused or have a separate route. The engine never runs them.
 */
import { NO_KEYS } from '../command-description.js';
import { notOverRest } from '../reply.js';
import { type Row, row } from './rows.js';

/** As `row`, with the flag `connection` added. */
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
