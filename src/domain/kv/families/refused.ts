/** Rows for commands that exist and that REST answers elsewhere, or not at all. */
import { type CommandSpec, NO_KEYS } from '../command-spec.js';
import { notOverRest } from '../reply.js';

/** Any number of words is admitted, so that the refusal and not an arity error is what a client reads. */
export function refusedOverRest(
  name: string,
  rest: 'refused' | 'other-route',
  since: string,
  summary: string,
): Omit<CommandSpec, 'family'> {
  const refusal = notOverRest(name);
  return {
    name,
    arity: -1,
    flags: [],
    keys: NO_KEYS,
    handler: () => refusal,
    since,
    summary,
    rest,
    readOnlyToken: false,
  };
}
