/**
 * The globals and libraries that a script can see. Lua 5.1 has no read-only tables, so each shared table is hidden by
 * an empty table (a shield) that reads from it and refuses writes. Functions that bypass metatables (`rawset`, `next`
 * …) are wrapped to respect shields.
 *
 * Invariants
 *
 *  LSA1 a script never gets a reference to a table that is hidden by a shield
 *  LSA2 a script can call only listed functions; the rest of Lua's libraries is unreachable
 *  LSA3 a script cannot change a shared table, so no change outlives it
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

/** Functions of Lua's base library that scripts get unchanged. */
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

/** A field of a library; null is `cjson.null`, a light userdata. */
export type Field = HostFunction | ByteString | number | null;
/** Fields by name, added to Lua's own. */
export type LibraryTable = ReadonlyMap<string, Field>;

export interface SandboxTables {
  readonly globals: ReadonlyMap<string, HostFunction>;
  readonly libraries: ReadonlyMap<string, LibraryTable>;
  /** Further names of libraries: `server` for `redis`. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** The host functions that the sandbox needs. */
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

/** Registry references that are needed later. */
export interface Sandbox {
  /** The real table of globals, which holds KEYS and ARGV. */
  readonly globals: number;
  /** The metatable of the globals' shield; loading a library replaces its `__index`. */
  readonly globalsMetatable: number;
}

/** Replaces the machine's globals by the sandbox. Called once, before any script runs. */
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

/** Sets fields of the table on top. */
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

/** Replaces the table on top by a shield. `isStrict`: reading a missing name is an error. */
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
  // The shield is referenced too, so that its pointer is never reused for another table.
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
