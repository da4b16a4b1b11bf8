/**
 * Building blocks for rows of the command table: common flags, uses of a single key, Redis's tips, and the subcommand
 * HELP. Rows are in the order in which COMMAND lists them.
 */

import { at, type CommandFamily, NO_KEYS } from '../command-description.js';
import type { CommandSpec } from '../command-spec.js';
import { type Reply, SimpleString } from '../reply.js';

/** @param formatLevel the level that the effects of its writes need; default: the first level */
export function family(name: CommandFamily, rows: readonly Row[], formatLevel?: number): readonly CommandSpec[] {
  return rows.map((row) => ({
    ...row,
    family: name,
    ...(formatLevel !== undefined && row.flags.includes('write') && { formatLevel }),
  }));
}

/** A row without its family. */
export type Row = Omit<CommandSpec, 'family'>;

/**
 * A row: name, number of words including the name (negative: the minimum), the Redis version that introduced it, a
 * one-sentence summary.
 */
export function row(
  name: string,
  arity: number,
  since: string,
  summary: string,
  columns: Omit<Row, 'name' | 'arity' | 'since' | 'summary'>,
): Row {
  return { name, arity, since, summary, ...columns };
}

/** In place of the version, for a command that Redis does not have. */
export const NOT_IN_REDIS = '';

/** Commands about the key that is their first argument. GROWS: may make the database larger. */
export const READS = { flags: ['readonly'], keys: at(1) } as const;
export const READS_FAST = { flags: ['readonly', 'fast'], keys: at(1) } as const;
export const WRITES = { flags: ['write'], keys: at(1) } as const;
export const WRITES_FAST = { flags: ['write', 'fast'], keys: at(1) } as const;
export const GROWS = { flags: ['write', 'denyoom'], keys: at(1) } as const;
export const GROWS_FAST = { flags: ['write', 'denyoom', 'fast'], keys: at(1) } as const;

/** As above, with a narrower use of the value: LOOKS reads without showing it, TAKES shows and deletes. */
export const LOOKS_FAST = { ...READS_FAST, keyUse: ['RO'] } as const;
export const DELETES = { ...WRITES, keyUse: ['RW delete'] } as const;
export const DELETES_FAST = { ...WRITES_FAST, keyUse: ['RW delete'] } as const;
export const TAKES = { ...WRITES, keyUse: ['RW access delete'] } as const;
export const TAKES_FAST = { ...WRITES_FAST, keyUse: ['RW access delete'] } as const;
export const INSERTS = { ...GROWS, keyUse: ['RW insert'] } as const;
export const INSERTS_FAST = { ...GROWS_FAST, keyUse: ['RW insert'] } as const;
export const UPDATES_FAST = { ...GROWS_FAST, keyUse: ['RW access update'] } as const;

/** Redis's tips: whether the answer or its order may vary between calls, and which nodes a cluster client asks. */
export const VARIES = ['nondeterministic_output'];
export const UNORDERED = ['nondeterministic_output_order'];
export const EVERY_NODE = ['request_policy:all_nodes', 'response_policy:all_succeeded'];
export const EVERY_SHARD = ['request_policy:all_shards', 'response_policy:all_succeeded'];

/** The HELP subcommand of `container`; `lines` describe the other subcommands. */
export function helpRow(container: string, since: string, lines: readonly string[], columns: Partial<Row> = {}): Row {
  const answer = helpLines(container, lines);
  return {
    name: `${container} HELP`,
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: () => answer,
    since,
    summary: 'Describes the subcommands.',
    ...columns,
  };
}

export function helpLines(container: string, lines: readonly string[]): Reply {
  const heading = `${container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`;
  return [heading, ...lines, 'HELP', '    Print this help.'].map((line) => new SimpleString(line));
}
