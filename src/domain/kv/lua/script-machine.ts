/** A Lua machine set up for scripts: sandbox, libraries, error handler, and the globals for loading libraries. */
import type { ByteString } from '../../../kernel/index.js';
import { BIT_FUNCTIONS } from './bit-library.js';
import { describeError } from './describe-error.js';
import { JSON_CONSTANTS, JSON_FUNCTIONS, JSON_IN_STEPS } from './json-library.js';
import { registerFunction } from './library-loading.js';
import { REGISTRY_INDEX } from './lua-api.js';
import { type HostFunction, LuaMachine } from './machine.js';
import { MATH_FUNCTIONS, OS_FUNCTIONS } from './math-library.js';
import { MSGPACK_CONSTANTS, MSGPACK_FUNCTIONS, MSGPACK_IN_STEPS } from './msgpack-library.js';
import { PATTERN_FUNCTIONS, PATTERN_HELPERS } from './patterns.js';
import { LOADING_FUNCTIONS, REDIS_CONSTANTS, REDIS_FUNCTIONS, REDIS_IN_STEPS } from './redis-library.js';
import { fill, type LibraryTable, openSandbox, SANDBOX_FUNCTIONS, shield } from './sandbox.js';
import { STRUCT_FUNCTIONS } from './struct-library.js';

export interface ScriptMachine {
  readonly machine: LuaMachine;
  /** Registry references. */
  readonly globals: number;
  readonly errorHandler: number;
  /** Switches between the globals for loading a library and those for running. */
  setLoading(isLoading: boolean): void;
}

const FUNCTION_TABLES: readonly ReadonlyMap<string, HostFunction>[] = [
  REDIS_FUNCTIONS,
  JSON_FUNCTIONS,
  MSGPACK_FUNCTIONS,
  STRUCT_FUNCTIONS,
  BIT_FUNCTIONS,
  MATH_FUNCTIONS,
  OS_FUNCTIONS,
  PATTERN_FUNCTIONS,
];

const HOST_FUNCTIONS: readonly HostFunction[] = [
  ...new Set([
    ...SANDBOX_FUNCTIONS,
    ...FUNCTION_TABLES.flatMap((table) => [...table.values()]),
    ...PATTERN_HELPERS,
    describeError,
    registerFunction,
  ]),
];

const HOST_FUNCTIONS_IN_STEPS: readonly HostFunction[] = [...REDIS_IN_STEPS, ...JSON_IN_STEPS, ...MSGPACK_IN_STEPS];

/** @param redisVersion as shown by INFO */
export function scriptMachine(redisVersion: string): ScriptMachine {
  const machine = new LuaMachine(HOST_FUNCTIONS, HOST_FUNCTIONS_IN_STEPS);
  const { api, state } = machine;
  const versions = versionFields(redisVersion);
  const libraries = new Map<string, LibraryTable>([
    ['string', PATTERN_FUNCTIONS],
    ['table', new Map()],
    ['math', MATH_FUNCTIONS],
    ['os', OS_FUNCTIONS],
    ['bit', BIT_FUNCTIONS],
    ['struct', STRUCT_FUNCTIONS],
    ['cmsgpack', new Map<string, HostFunction | ByteString>([...MSGPACK_FUNCTIONS, ...MSGPACK_CONSTANTS])],
    [
      'cjson',
      new Map<string, HostFunction | ByteString | null>([...JSON_FUNCTIONS, ...JSON_CONSTANTS, ['null', null]]),
    ],
    [
      'redis',
      new Map<string, HostFunction | ByteString | number>([...REDIS_FUNCTIONS, ...REDIS_CONSTANTS, ...versions]),
    ],
  ]);
  const { globals, globalsMetatable } = openSandbox(machine, {
    globals: new Map([['__redis__err__handler', describeError]]),
    libraries,
    aliases: new Map([['server', 'redis']]),
  });
  machine.pushFunction(state, describeError);
  const errorHandler = api.luaL_ref(state, REGISTRY_INDEX);
  const loading = loadingGlobals(machine, versions);
  const setLoading = (isLoading: boolean): void => {
    api.lua_rawgeti(state, REGISTRY_INDEX, globalsMetatable);
    api.lua_rawgeti(state, REGISTRY_INDEX, isLoading ? loading : globals);
    api.lua_setfield(state, -2, machine.name('__index'));
    machine.pop(state);
  };
  setLoading(false);
  return { machine, globals, errorHandler, setLoading };
}

/** Only a few functions of `redis`: a library may use no others outside its functions. */
function loadingGlobals(machine: LuaMachine, versions: readonly (readonly [string, ByteString | number])[]): number {
  const { api, state } = machine;
  api.lua_createtable(state, 0, 2);
  api.lua_createtable(state, 0, 16);
  fill(machine, [
    ['register_function', registerFunction],
    ...LOADING_FUNCTIONS.map((name) => [name, REDIS_FUNCTIONS.get(name) as HostFunction] as const),
    ...REDIS_CONSTANTS,
    ...versions,
  ]);
  shield(machine, true);
  api.lua_pushvalue(state, -1);
  api.lua_setfield(state, -3, machine.name('redis'));
  api.lua_setfield(state, -2, machine.name('server'));
  shield(machine, true);
  return api.luaL_ref(state, REGISTRY_INDEX);
}

function versionFields(version: string): (readonly [string, ByteString | number])[] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [
    ['REDIS_VERSION', version],
    ['REDIS_VERSION_NUM', (major << 16) | (minor << 8) | patch],
  ];
}
