/**
 * What a script can see. Lua 5.1 has no read-only tables, so each table that all scripts share is hidden
 * behind an empty one that reads from it and refuses to be written; the functions that reach past
 * metatables (`rawset`, `next` …) know those.
 *
 * Invariants
 *  LSA1 no table behind a shield is ever handed to a script
 *  LSA2 what a script may call is on a list; the rest of Lua's libraries cannot be reached
 *  LSA3 nothing a script does to a shared table outlives it: it cannot be done
 */
import type { ByteString } from '../../../kernel/index.js';
import { GLOBALS_INDEX, LUA, REGISTRY_INDEX } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { PROTECTED_CALL_PARTS, pushProtectedCall } from './protected-calls.js';
import {
  COROUTINE_WRAPS,
  GLOBALS,
  GLOBALS_METATABLE,
  pairs,
  refuseUnknownGlobal,
  refuseWrite,
  STRING_METATABLE,
  STRING_WRAPS,
  TABLE_WRAPS,
  WRAPPED,
} from './wrapped-functions.js';

/** Functions of Lua's base library that scripts get as they are. */
const PLAIN = [
  '_VERSION',
  'assert',
  'coroutine',
  'error',
  'gcinfo',
  'ipairs',
  'rawequal',
  'select',
  'tostring',
  'type',
  'unpack',
  'xpcall',
] as const;

/** A field of a library; null is the null of `cjson`, a light userdata. */
export type Field = HostFunction | ByteString | number | null;
/** Fields of ours by name; put beside Lua's own. */
export type LibraryTable = ReadonlyMap<string, Field>;

export interface SandboxTables {
  readonly globals: ReadonlyMap<string, HostFunction>;
  readonly libraries: ReadonlyMap<string, LibraryTable>;
  /** Further names for libraries: `server` for `redis`. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Every host function the sandbox itself needs, for the machine's table. */
export const SANDBOX_FUNCTIONS: readonly HostFunction[] = [
  ...WRAPPED.values(),
  ...STRING_WRAPS.values(),
  ...TABLE_WRAPS.values(),
  ...COROUTINE_WRAPS.values(),
  ...PROTECTED_CALL_PARTS,
  pairs,
  refuseWrite,
  refuseUnknownGlobal,
];

/** Registry references of what the runner needs again. */
export interface Sandbox {
  /** The table of globals behind its shield: KEYS and ARGV are put there. */
  readonly globals: number;
  /** The metatable through which the globals are read; a load of a library swaps its `__index`. */
  readonly globalsMetatable: number;
}

/** Makes the machine safe: afterwards its globals are the sandbox. Once, before anything else runs. */
export function openSandbox(machine: LuaMachine, { globals, libraries, aliases }: SandboxTables): Sandbox {
  const { api, state } = machine;
  for (const open of [api.luaopen_base, api.luaopen_table, api.luaopen_string, api.luaopen_math]) open(state);
  api.lua_settop(state, 0);
  keepNatives(machine);
  api.lua_createtable(state, 0, 48);
  const real = 1;
  for (const name of PLAIN) {
    api.lua_getfield(state, GLOBALS_INDEX, machine.name(name));
    api.lua_setfield(state, real, machine.name(name));
  }
  for (const [name, hostFunction] of [...WRAPPED, ...globals]) {
    machine.pushFunction(state, hostFunction);
    api.lua_setfield(state, real, machine.name(name));
  }
  pushProtectedCall(machine, state);
  api.lua_setfield(state, real, machine.name('pcall'));
  api.lua_getfield(state, real, machine.name('next'));
  machine.pushFunction(state, pairs, 1);
  api.lua_setfield(state, real, machine.name('pairs'));
  api.lua_getfield(state, real, machine.name('coroutine'));
  fill(machine, COROUTINE_WRAPS);
  shield(machine);
  api.lua_setfield(state, real, machine.name('coroutine'));
  putLibraries(machine, real, libraries, aliases);
  return closeGlobals(machine, real);
}

function keepNatives(machine: LuaMachine): void {
  const { api, state } = machine;
  const keep = (name: string): void => {
    machine.natives.set(name, api.lua_tocfunction(state, -1));
    machine.pop(state);
  };
  for (const name of [...WRAPPED.keys(), 'pairs']) {
    api.lua_getfield(state, GLOBALS_INDEX, machine.name(name));
    keep(name);
  }
  for (const [library, wraps] of [
    ['string', STRING_WRAPS],
    ['table', TABLE_WRAPS],
    ['coroutine', COROUTINE_WRAPS],
  ] as const) {
    api.lua_getfield(state, GLOBALS_INDEX, machine.name(library));
    for (const name of wraps.keys()) {
      api.lua_getfield(state, -1, machine.name(name));
      keep(name);
    }
    machine.pop(state);
  }
}

function putLibraries(
  machine: LuaMachine,
  real: number,
  libraries: ReadonlyMap<string, LibraryTable>,
  aliases: ReadonlyMap<string, string>,
): void {
  const { api, state } = machine;
  const names = new Set(['string', 'table', 'math', ...libraries.keys()]);
  for (const name of names) {
    api.lua_getfield(state, GLOBALS_INDEX, machine.name(name));
    if (api.lua_type(state, -1) !== LUA.TABLE) {
      machine.pop(state);
      api.lua_createtable(state, 0, 16);
    }
    const wraps = name === 'string' ? STRING_WRAPS : name === 'table' ? TABLE_WRAPS : [];
    fill(machine, [...wraps, ...(libraries.get(name) ?? [])]);
    if (name === 'string') {
      api.lua_pushnil(state);
      api.lua_setfield(state, -2, machine.name('dump'));
    }
    shield(machine);
    for (const known of [name, ...[...aliases].filter(([, of]) => of === name).map(([alias]) => alias)]) {
      api.lua_pushvalue(state, -1);
      api.lua_setfield(state, real, machine.name(known));
    }
    machine.pop(state);
  }
}

/** Fields of the table on top. */
export function fill(machine: LuaMachine, fields: Iterable<readonly [string, Field]>, state = machine.state): void {
  const { api } = machine;
  for (const [field, value] of fields) {
    if (typeof value === 'function') machine.pushFunction(state, value);
    else if (typeof value === 'number') api.lua_pushnumber(state, value);
    else if (value === null) api.lua_pushlightuserdata(state, 0);
    else machine.push(state, value);
    api.lua_setfield(state, -2, machine.name(field));
  }
}

/** Puts a shield in the place of the table on top. `isStrict`: a name that is not there is an error. */
export function shield(machine: LuaMachine, isStrict = false): void {
  const { api, state } = machine;
  if (isStrict) {
    api.lua_createtable(state, 0, 1);
    machine.pushFunction(state, refuseUnknownGlobal);
    api.lua_setfield(state, -2, machine.name('__index'));
    api.lua_setmetatable(state, -2);
  }
  api.lua_createtable(state, 0, 0);
  api.lua_createtable(state, 0, 2);
  api.lua_pushvalue(state, -3);
  api.lua_setfield(state, -2, machine.name('__index'));
  machine.pushFunction(state, refuseWrite);
  api.lua_setfield(state, -2, machine.name('__newindex'));
  api.lua_setmetatable(state, -2);
  api.lua_insert(state, -2);
  const behind = api.luaL_ref(state, REGISTRY_INDEX);
  // The shield itself is referred to as well: its pointer must not be given to another table.
  api.lua_pushvalue(state, -1);
  api.luaL_ref(state, REGISTRY_INDEX);
  machine.shielded.set(api.lua_topointer(state, -1), behind);
}

function closeGlobals(machine: LuaMachine, real: number): Sandbox {
  const { api, state } = machine;
  machine.push(state, '');
  api.lua_getmetatable(state, -1);
  api.lua_createtable(state, 0, 1);
  api.lua_getfield(state, real, machine.name('string'));
  api.lua_setfield(state, -2, machine.name('__index'));
  shield(machine);
  api.lua_setfield(state, REGISTRY_INDEX, machine.name(STRING_METATABLE));
  api.lua_settop(state, real);
  api.lua_pushvalue(state, real);
  shield(machine, true);
  api.lua_pushvalue(state, -1);
  api.lua_setfield(state, real, machine.name('_G'));
  api.lua_pushvalue(state, -1);
  api.lua_setfield(state, REGISTRY_INDEX, machine.name(GLOBALS));
  api.lua_getmetatable(state, -1);
  const globalsMetatable = api.luaL_ref(state, REGISTRY_INDEX);
  api.lua_createtable(state, 0, 1);
  machine.pushFunction(state, refuseUnknownGlobal);
  api.lua_setfield(state, -2, machine.name('__index'));
  shield(machine);
  api.lua_setfield(state, REGISTRY_INDEX, machine.name(GLOBALS_METATABLE));
  api.lua_replace(state, GLOBALS_INDEX);
  const globals = api.luaL_ref(state, REGISTRY_INDEX);
  api.lua_settop(state, 0);
  return { globals, globalsMetatable };
}
