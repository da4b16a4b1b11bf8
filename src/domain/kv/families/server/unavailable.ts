/**
 * Redis commands that are not available, each with its reason: they affect the server beyond one database, or duplicate
 * the journal.
 */

import { NO_KEYS } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { ErrorReply, notAvailable } from '../../reply.js';
import { helpLines, type Row } from '../rows.js';

const SERVED_BY_JOURNAL = 'every write is journaled before it is answered';
const REPLICATED_BY_JOURNAL = 'the journal replicates';
const HARMS_HOST = 'it could harm the server and its other databases';
const ONE_DATABASE = 'there is one database behind a connection';

interface Refused extends Pick<CommandSpec, 'name' | 'since' | 'allCategories' | 'rulesMayNameParts'> {
  readonly reason: string;
  /** Also refused in MULTI, as in Redis. */
  readonly isNeverQueued?: boolean;
}

/** Rule sets often start by removing these, with or without subcommands. */
const often = { rulesMayNameParts: true } as const;

const REFUSED: readonly Refused[] = [
  { name: 'BGREWRITEAOF', since: '1.0.0', reason: SERVED_BY_JOURNAL, ...often },
  { name: 'BGSAVE', since: '1.0.0', reason: SERVED_BY_JOURNAL, ...often },
  { name: 'SAVE', since: '1.0.0', reason: SERVED_BY_JOURNAL, isNeverQueued: true, ...often },
  { name: 'DEBUG', since: '1.0.0', reason: HARMS_HOST, ...often },
  { name: 'SHUTDOWN', since: '1.0.0', reason: HARMS_HOST, isNeverQueued: true, ...often },
  {
    name: 'MIGRATE',
    since: '2.6.0',
    reason: 'it would let clients open connections from the server',
    allCategories: ['keyspace', 'write', 'slow', 'dangerous'],
    ...often,
  },
  { name: 'FAILOVER', since: '6.2.0', reason: REPLICATED_BY_JOURNAL, ...often },
  { name: 'PSYNC', since: '2.8.0', reason: REPLICATED_BY_JOURNAL, isNeverQueued: true, ...often },
  { name: 'REPLCONF', since: '3.0.0', reason: REPLICATED_BY_JOURNAL, ...often },
  { name: 'REPLICAOF', since: '5.0.0', reason: REPLICATED_BY_JOURNAL, ...often },
  { name: 'SLAVEOF', since: '1.0.0', reason: REPLICATED_BY_JOURNAL, ...often },
  { name: 'SYNC', since: '1.0.0', reason: REPLICATED_BY_JOURNAL, isNeverQueued: true, ...often },
  { name: 'MOVE', since: '1.0.0', reason: ONE_DATABASE, allCategories: ['keyspace', 'write', 'fast'] },
  { name: 'SWAPDB', since: '4.0.0', reason: ONE_DATABASE, allCategories: ['keyspace', 'write', 'fast', 'dangerous'] },
];

export const UNAVAILABLE: readonly Row[] = REFUSED.map(({ reason, isNeverQueued = false, ...row }) => {
  const { name } = row;
  const refusal = new ErrorReply(`ERR ${name} is not available: ${reason}`, notAvailable(name).text);
  return {
    ...row,
    arity: -1,
    flags: ['admin', 'dangerous', 'noscript', 'edge', ...(isNeverQueued ? (['nomulti'] as const) : [])],
    keys: NO_KEYS,
    handler: ({ args }) =>
      args.length === 2 && args.option(1) === 'HELP' ? helpLines(name, [`None: ${reason}.`]) : refusal,
    summary: `Refused: ${reason}.`,
    rest: 'refused',
    readOnlyToken: false,
    deviations: [`Refused: ${reason}.`],
  } as const;
});
