/** What REST may not run. A transaction over REST arrives whole: one such command discards it before any has run. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { type ErrorReply, notAvailable, notOverRest } from './reply.js';

/** The answer to a command that belongs to another route, or to none; undefined for one REST may run. */
export function restRefusal(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  if (spec.rest === undefined) return spec.restProblem?.(words);
  return spec.rest === 'other-route' || spec.flags.includes('connection')
    ? notOverRest(spec.name)
    : notAvailable(spec.name);
}
