/**
 * What may be queued. A transaction over REST arrives whole, so it is judged whole: one command that
 * cannot be queued discards it before any has run. Errors at run time are items of its reply instead.
 */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { admit } from './commands.js';
import { ErrorReply, notAvailable, notOverRest } from './reply.js';

/** The answer to a command that belongs to another route, or to none; undefined for one REST may run. */
export function restRefusal(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  if (spec.rest === undefined) return spec.restProblem?.(words);
  return spec.rest === 'other-route' || spec.flags.includes('connection')
    ? notOverRest(spec.name)
    : notAvailable(spec.name);
}

/** The error of the first command that cannot be queued: empty, unknown, of wrong arity or refused over REST. */
export function queueProblem(commands: readonly (readonly ByteString[])[]): ErrorReply | undefined {
  for (const words of commands) {
    const admitted = admit(words);
    const problem = admitted instanceof ErrorReply ? admitted : restRefusal(admitted, words);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
