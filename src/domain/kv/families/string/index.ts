import { at, type CommandSpec, family, type Handler } from '../../command-spec.js';
import { OK } from '../../reply.js';

/** GET key → bulk string or null. WRONGTYPE if not a string. */
const get: Handler = ({ args, keyspace }) => keyspace.peekString(args.bytes(1)) ?? null;

const set: Handler = ({ args, keyspace, effects }) => {
  const key = args.bytes(1);
  const value = args.bytes(2);
  keyspace.set(key, value);
  effects.pushSet(key, value);
  return OK;
};

export const STRING: readonly CommandSpec[] = family('string', [
  { name: 'GET', arity: 2, flags: ['readonly', 'fast'], keys: at(1), handler: get, since: '1.0.0', summary: 'Returns the string value of a key.' },
  { name: 'SET', arity: -3, flags: ['write', 'denyoom'], keys: at(1), handler: set, since: '1.0.0', summary: 'Sets the value of a key.' },
]);
