/** Loading a function library: the registration of its functions, and its first line. */
import type { ByteString } from '../../../kernel/index.js';
import { ErrorReply } from '../reply.js';
import { LUA, REGISTRY_INDEX, type State } from './lua-api.js';
import type { LuaMachine } from './machine.js';
import { raiseText } from './redis-library.js';
import type { RegisteredFunction } from './script-run.js';
import { FUNCTION_FLAGS, type FunctionFlag, type Shebang, shebangOf } from './shebang.js';

const NO_FLAGS: ReadonlySet<FunctionFlag> = new Set();
const NAME = /^[A-Za-z0-9_]+$/;
/** The rule for library names; Redis gives the same text for function names. */
const NAME_RULE =
  'Library names can only contain letters, numbers, or underscores(_) and must be at least one character long';
/** The most functions of one library, which bounds the answer of FUNCTION LIST. */
const MAX_FUNCTIONS = 10_000;

export interface LibraryHeader {
  readonly name: ByteString;
  /** The source with an empty first line, which keeps the line numbers in errors. */
  readonly body: ByteString;
}

/** @throws ErrorReply with Redis's text */
export function libraryHeader(source: ByteString): LibraryHeader {
  if (!source.startsWith('#!')) throw new ErrorReply('ERR Missing library metadata');
  const shebang: Shebang | undefined = shebangOf(source);
  if (shebang === undefined) throw new ErrorReply('ERR Invalid library metadata');
  let name: ByteString | undefined;
  for (const part of shebang.options) {
    if (!/^name=/i.test(part)) throw new ErrorReply(`ERR Invalid metadata value given: ${part}`);
    if (name !== undefined) {
      throw new ErrorReply('ERR Invalid metadata value, name argument was given multiple times');
    }
    name = part.slice('name='.length);
  }
  if (name === undefined) throw new ErrorReply('ERR Library name was not given');
  if (!NAME.test(name)) throw new ErrorReply(`ERR ${NAME_RULE}`);
  if (shebang.engine.toLowerCase() !== 'lua') throw new ErrorReply(`ERR Engine '${shebang.engine}' not found`);
  return { name, body: shebang.body };
}

type Draft = { -readonly [K in keyof RegisteredFunction]?: RegisteredFunction[K] };

/** `redis.register_function(name, callback)`, or a single table of named arguments. */
export function registerFunction(machine: LuaMachine, state: State): number {
  const registration = machine.run?.registration;
  if (registration === undefined) {
    return raiseText(machine, state, 'redis.register_function can only be called on FUNCTION LOAD command');
  }
  const count = machine.api.lua_gettop(state);
  if (count < 1 || count > 2) {
    return raiseText(machine, state, 'wrong number of arguments to redis.register_function');
  }
  const draft = count === 2 ? positional(machine, state) : named(machine, state);
  const { name, callback } = draft;
  if (name === undefined) {
    return raiseText(machine, state, 'redis.register_function must get a function name argument');
  }
  if (callback === undefined) {
    return raiseText(machine, state, 'redis.register_function must get a callback argument');
  }
  if (!NAME.test(name)) return raiseText(machine, state, NAME_RULE);
  if (registration.functions.has(name)) {
    return raiseText(machine, state, 'Function already exists in the library');
  }
  if (registration.functions.size >= MAX_FUNCTIONS) return raiseText(machine, state, 'too many functions');
  const { description = null, flags = NO_FLAGS } = draft;
  registration.functions.set(name, { name, callback, description, flags });
  return 0;
}

function positional(machine: LuaMachine, state: State): Draft {
  const name = machine.string(state, 1);
  if (name === undefined) {
    return raiseText(machine, state, 'first argument to redis.register_function must be a string');
  }
  if (machine.api.lua_type(state, 2) !== LUA.FUNCTION) {
    return raiseText(machine, state, 'second argument to redis.register_function must be a function');
  }
  return { name, callback: machine.api.luaL_ref(state, REGISTRY_INDEX) };
}

function named(machine: LuaMachine, state: State): Draft {
  const { api } = machine;
  if (api.lua_type(state, 1) !== LUA.TABLE) {
    return raiseText(
      machine,
      state,
      'calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).',
    );
  }
  const draft: Draft = {};
  api.lua_pushnil(state);
  while (api.lua_next(state, 1) !== 0) {
    if (api.lua_type(state, -2) !== LUA.STRING) {
      return raiseText(machine, state, 'named argument key given to redis.register_function is not a string');
    }
    const key = (machine.string(state, -2) as ByteString).toLowerCase();
    if (key === 'function_name') draft.name = text(machine, state, key);
    else if (key === 'description') draft.description = text(machine, state, key);
    else if (key === 'callback') {
      if (api.lua_type(state, -1) !== LUA.FUNCTION) {
        return raiseText(machine, state, 'callback argument given to redis.register_function must be a function');
      }
      api.lua_pushvalue(state, -1);
      draft.callback = api.luaL_ref(state, REGISTRY_INDEX);
    } else if (key === 'flags') draft.flags = flags(machine, state);
    else return raiseText(machine, state, 'unknown argument given to redis.register_function');
    machine.pop(state);
  }
  return draft;
}

function text(machine: LuaMachine, state: State, argument: string): ByteString {
  return (
    machine.string(state, -1) ??
    raiseText(machine, state, `${argument} argument given to redis.register_function must be a string`)
  );
}

function flags(machine: LuaMachine, state: State): ReadonlySet<FunctionFlag> {
  const { api } = machine;
  if (api.lua_type(state, -1) !== LUA.TABLE) {
    return raiseText(
      machine,
      state,
      'flags argument to redis.register_function must be a table representing function flags',
    );
  }
  const given = new Set<ByteString>();
  for (let i = 1; ; i += 1) {
    api.lua_rawgeti(state, -1, i);
    if (api.lua_type(state, -1) === LUA.NIL) break;
    const flag = machine.string(state, -1) ?? '';
    if (!(FUNCTION_FLAGS as readonly string[]).includes(flag)) return raiseText(machine, state, 'unknown flag given');
    given.add(flag);
    machine.pop(state);
  }
  machine.pop(state);
  return new Set(FUNCTION_FLAGS.filter((flag) => given.has(flag)));
}
