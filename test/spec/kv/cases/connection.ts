/**
 * Rows of commands that only a connection answers. Their answers are in test/spec/resp, and are compared with a real
 * server in test/differential/resp-connection.test.ts.
 */
import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { wrongArity } from './texts.js';

/** The commands with all words, and, where there is one, with a word too few or too many. */
const ROWS: readonly (readonly [line: string, wrong?: string])[] = [
  ['AUTH a', 'AUTH'],
  ['HELLO'],
  ['QUIT'],
  ['RESET', 'RESET a'],
  ['SELECT 0', 'SELECT'],
  ['HIMPORT DISCARD a', 'HIMPORT DISCARD'],
  ['HIMPORT DISCARDALL', 'HIMPORT DISCARDALL a'],
  ['HIMPORT PREPARE a b', 'HIMPORT PREPARE a'],
  ['CLIENT CACHING YES', 'CLIENT CACHING'],
  ['CLIENT GETNAME', 'CLIENT GETNAME a'],
  ['CLIENT GETREDIR', 'CLIENT GETREDIR a'],
  ['CLIENT HELP', 'CLIENT HELP a'],
  ['CLIENT ID', 'CLIENT ID a'],
  ['CLIENT INFO', 'CLIENT INFO a'],
  ['CLIENT KILL a', 'CLIENT KILL'],
  ['CLIENT LIST'],
  ['CLIENT NO-EVICT ON', 'CLIENT NO-EVICT'],
  ['CLIENT NO-TOUCH ON', 'CLIENT NO-TOUCH'],
  ['CLIENT PAUSE 1', 'CLIENT PAUSE'],
  ['CLIENT REPLY ON', 'CLIENT REPLY'],
  ['CLIENT SETINFO LIB-NAME a', 'CLIENT SETINFO'],
  ['CLIENT SETNAME a', 'CLIENT SETNAME'],
  ['CLIENT TRACKING ON', 'CLIENT TRACKING'],
  ['CLIENT TRACKINGINFO', 'CLIENT TRACKINGINFO a'],
  ['CLIENT UNBLOCK 1', 'CLIENT UNBLOCK'],
  ['CLIENT UNPAUSE', 'CLIENT UNPAUSE a'],
  ['MULTI', 'MULTI a'],
  ['EXEC', 'EXEC a'],
  ['DISCARD', 'DISCARD a'],
  ['WATCH a', 'WATCH'],
  ['UNWATCH', 'UNWATCH a'],
  ['SUBSCRIBE a', 'SUBSCRIBE'],
  ['PSUBSCRIBE a', 'PSUBSCRIBE'],
  ['SSUBSCRIBE a', 'SSUBSCRIBE'],
  ['UNSUBSCRIBE'],
  ['PUNSUBSCRIBE'],
  ['SUNSUBSCRIBE'],
  ['MONITOR', 'MONITOR a'],
];

const CONTAINERS = ['CLIENT', 'HIMPORT'];

export const CONNECTION_CASES: readonly KvCase[] = ROWS.flatMap(([line, wrong]) => {
  const [name = ''] = line.split(' ');
  const refusal = `-ERR Command "${name}" is not allowed in REST or it has a special context path`;
  const cases = [kvCase(`${line} needs a connection or a separate route`, [], line, refusal, [])];
  if (wrong === undefined) return cases;
  const shown = (CONTAINERS.includes(name) ? line.split(' ').slice(0, 2).join('|') : name).toLowerCase();
  return [...cases, kvCase(`${line} refuses a wrong number of words`, [], wrong, wrongArity(shown), [])];
}).concat([
  kvCase('CLIENT needs a subcommand', [], 'CLIENT', wrongArity('client'), []),
  kvCase(
    'CLIENT refuses an unknown subcommand',
    [],
    'CLIENT FOO',
    "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.",
    [],
  ),
]);
