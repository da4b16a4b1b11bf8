/**
 * The commands that REST refuses. A REST transaction arrives as a whole: one such command discards it before any
 * command has run.
 */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { type ErrorReply, notAvailable, notOverRest } from './reply.js';

/** The error for a command that belongs to another REST route or to none; undefined if REST may run it. */
export function restRefusal(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  if (spec.rest === undefined) return spec.restProblem?.(words);
  return spec.rest === 'other-route' || spec.flags.includes('connection')
    ? notOverRest(spec.name)
    : notAvailable(spec.name);
}
