/**
 * Commands of Redis that are not available here, each with its reason: they would reach beyond a database
 * into the server, or do what the journal already does.
 */
import { type CommandSpec, NO_KEYS } from '../../command-spec.js';
import { ErrorReply, notAvailable, type Reply, SimpleString } from '../../reply.js';

const SERVED_BY_JOURNAL = 'every write is journaled before it is answered';
const REPLICATED_BY_JOURNAL = 'the journal replicates';
const HARMS_HOST = 'it could harm the server and its other databases';

const REASONS: readonly (readonly [name: string, since: string, reason: string])[] = [
  ['BGREWRITEAOF', '1.0.0', SERVED_BY_JOURNAL],
  ['BGSAVE', '1.0.0', SERVED_BY_JOURNAL],
  ['SAVE', '1.0.0', SERVED_BY_JOURNAL],
  ['DEBUG', '1.0.0', HARMS_HOST],
  ['SHUTDOWN', '1.0.0', HARMS_HOST],
  ['MODULE', '4.0.0', HARMS_HOST],
  ['MIGRATE', '2.6.0', 'it would let clients open connections from the server'],
  ['FAILOVER', '6.2.0', REPLICATED_BY_JOURNAL],
  ['PSYNC', '2.8.0', REPLICATED_BY_JOURNAL],
  ['REPLCONF', '3.0.0', REPLICATED_BY_JOURNAL],
  ['REPLICAOF', '5.0.0', REPLICATED_BY_JOURNAL],
  ['SLAVEOF', '1.0.0', REPLICATED_BY_JOURNAL],
  ['SYNC', '1.0.0', REPLICATED_BY_JOURNAL],
  ['MOVE', '1.0.0', 'there is one database behind a connection'],
  ['SWAPDB', '4.0.0', 'there is one database behind a connection'],
];

function helpOf(name: string, reason: string): Reply {
  const lines = [`${name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`, `None: ${reason}.`];
  return [...lines, 'HELP', '    Print this help.'].map((line) => new SimpleString(line));
}

/** As in Redis they are refused when they would be queued. */
const NOT_IN_TRANSACTIONS = new Set(['SAVE', 'SHUTDOWN', 'SYNC', 'PSYNC']);

export const UNAVAILABLE: readonly Omit<CommandSpec, 'family'>[] = REASONS.map(([name, since, reason]) => {
  const refusal = new ErrorReply(`ERR ${name} is not available: ${reason}`, notAvailable(name).text);
  return {
    name,
    arity: -1,
    flags: ['admin', 'dangerous', 'noscript', 'edge', ...(NOT_IN_TRANSACTIONS.has(name) ? (['nomulti'] as const) : [])],
    keys: NO_KEYS,
    handler: ({ args }) => (args.length === 2 && args.option(1) === 'HELP' ? helpOf(name, reason) : refusal),
    since,
    summary: `Refused: ${reason}.`,
    rest: 'refused',
    readOnlyToken: false,
    deviations: [`Refused: ${reason}.`],
  } as const;
});
