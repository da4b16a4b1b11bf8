/**
 * What a script can see. Lua 5.1 has no read-only tables, so each table that all scripts share is hidden
 * behind an empty one that reads from it and refuses to be written; the functions that reach past
 * metatables (`rawset`, `next` …) know those.
 *
 * Invariants
 *  S1 no table behind a shield is ever handed to a script
 *  S2 what a script may call is on a list; the rest of Lua's libraries cannot be reached
 *  S3 nothing a script does to a shared table outlives it: it cannot be done
 */
import { type ByteString, bytesOfBuffer } from '../../../kernel/index.js';
import { MAX_HEAP_BYTES } from './lua-limits.js';
import { GLOBALS_INDEX, type HostFunction, LUA, type LuaMachine, MULTIPLE_RESULTS, REGISTRY_INDEX, type State } from './machine.js';

/** Of Lua's base library, as they are. */
const PLAIN = [
  '_VERSION',
  'assert',
  'coroutine',
  'error',
  'gcinfo',
  'ipairs',
  'rawequal',
  'select',
  'tonumber',
  'tostring',
  'type',
  'unpack',
  'xpcall',
] as const;

const READ_ONLY = 'Attempt to modify a readonly table';

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

/** Wraps of base functions; `natives` has what they wrap. */
const WRAPPED: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['collectgarbage', collectGarbage],
  ['getmetatable', getMetatable],
  ['load', load],
  ['loadstring', loadString],
  ['next', unshieldFirst('next')],
  ['rawget', unshieldFirst('rawget')],
  ['rawset', refuseShielded('rawset')],
  ['setmetatable', refuseShielded('setmetatable')],
  ['pcall', protectedCall],
]);

const STRING_WRAPS: ReadonlyMap<string, HostFunction> = new Map([['rep', repeat]]);
const TABLE_WRAPS: ReadonlyMap<string, HostFunction> = new Map([
  ['insert', insert],
  ['remove', metered('remove')],
  ['concat', metered('concat')],
  ['sort', metered('sort')],
]);

/** Every host function the sandbox itself needs, for the machine's table. */
export const SANDBOX_FUNCTIONS: readonly HostFunction[] = [
  ...WRAPPED.values(),
  ...STRING_WRAPS.values(),
  ...TABLE_WRAPS.values(),
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
  api.lua_getfield(state, real, machine.name('next'));
  machine.pushFunction(state, pairs, 1);
  api.lua_setfield(state, real, machine.name('pairs'));
  api.lua_getfield(state, real, machine.name('coroutine'));
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

/** Metatables that scripts may look at, and nothing more. */
const STRING_METATABLE = 'string metatable';
const GLOBALS_METATABLE = 'globals metatable';
const GLOBALS = 'globals shield';

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

function native(machine: LuaMachine, state: State, name: string): number {
  return machine.callNative(state, machine.natives.get(name) as number);
}

function refuseWrite(machine: LuaMachine, state: State): number {
  return machine.fail(state, READ_ONLY);
}

function refuseUnknownGlobal(machine: LuaMachine, state: State): number {
  const name = machine.string(state, 2) ?? machine.typeName(state, 2);
  return machine.fail(state, `Script attempted to access nonexistent global variable '${name}'`);
}

function refuseShielded(name: string): HostFunction {
  return (machine, state) => {
    if (machine.isShielded(state, 1)) {
      machine.push(state, READ_ONLY);
      return machine.raise(state);
    }
    return native(machine, state, name);
  };
}

function unshieldFirst(name: string): HostFunction {
  return (machine, state) => {
    const behind = machine.shielded.get(machine.api.lua_topointer(state, 1));
    if (behind !== undefined) {
      machine.api.lua_rawgeti(state, REGISTRY_INDEX, behind);
      machine.api.lua_replace(state, 1);
    }
    return native(machine, state, name);
  };
}

/** Its upvalue is the `next` that knows shields; other tables are walked by Lua's own. */
function pairs(machine: LuaMachine, state: State): number {
  machine.api.luaL_checktype(state, 1, LUA.TABLE);
  if (machine.isShielded(state, 1)) machine.api.lua_pushvalue(state, GLOBALS_INDEX - 1);
  else machine.api.lua_pushcclosure(state, machine.natives.get('next') as number, 0);
  machine.api.lua_pushvalue(state, 1);
  machine.api.lua_pushnil(state);
  return 3;
}

function getMetatable(machine: LuaMachine, state: State): number {
  const { api } = machine;
  if (api.lua_type(state, 1) === LUA.STRING) {
    api.lua_getfield(state, REGISTRY_INDEX, machine.name(STRING_METATABLE));
    return 1;
  }
  if (!machine.isShielded(state, 1)) return native(machine, state, 'getmetatable');
  api.lua_getfield(state, REGISTRY_INDEX, machine.name(GLOBALS));
  if (api.lua_topointer(state, -1) === api.lua_topointer(state, 1)) {
    api.lua_getfield(state, REGISTRY_INDEX, machine.name(GLOBALS_METATABLE));
  } else {
    api.lua_pushnil(state);
  }
  return 1;
}

/** The collector stays on: what would stop or tune it does nothing. */
function collectGarbage(machine: LuaMachine, state: State): number {
  machine.checkMeter();
  const what = machine.api.lua_type(state, 1) === LUA.STRING ? machine.string(state, 1) : undefined;
  if (what === 'stop' || what === 'restart' || what === 'setpause' || what === 'setstepmul') {
    machine.api.lua_pushnumber(state, 0);
    return 1;
  }
  return native(machine, state, 'collectgarbage');
}

/** As Redis's: an error that is a table with a text is that text. */
function protectedCall(machine: LuaMachine, state: State): number {
  const { api } = machine;
  if (api.lua_gettop(state) === 0) return native(machine, state, 'pcall');
  api.lua_pushboolean(state, 1);
  api.lua_insert(state, 1);
  if (api.lua_pcall(state, api.lua_gettop(state) - 2, MULTIPLE_RESULTS, 0) === 0) return api.lua_gettop(state);
  api.lua_remove(state, 1);
  if (api.lua_type(state, -1) === LUA.TABLE) {
    if (machine.rawField(state, -1, 'err') === LUA.STRING) api.lua_replace(state, -2);
    else machine.pop(state);
  }
  api.lua_pushboolean(state, 0);
  api.lua_insert(state, -2);
  return 2;
}

function loadString(machine: LuaMachine, state: State): number {
  const source = machine.checkedString(state, 1);
  const name = machine.api.lua_type(state, 2) > LUA.NIL ? machine.checkedString(state, 2) : source;
  return loaded(machine, state, source, name);
}

/** Collects the pieces first, so that what is compiled is seen whole. */
function load(machine: LuaMachine, state: State): number {
  const { api } = machine;
  api.luaL_checktype(state, 1, LUA.FUNCTION);
  const name = api.lua_type(state, 2) > LUA.NIL ? machine.checkedString(state, 2) : '=(load)';
  let source = '';
  for (;;) {
    api.lua_pushvalue(state, 1);
    api.lua_call(state, 0, 1);
    if (api.lua_type(state, -1) === LUA.NIL) break;
    const piece = machine.string(state, -1);
    if (piece === undefined) return machine.fail(state, 'reader function must return a string');
    if (piece === '') break;
    source += piece;
    if (source.length > MAX_HEAP_BYTES) machine.refuseMemory();
    machine.pop(state);
  }
  return loaded(machine, state, source, name);
}

function loaded(machine: LuaMachine, state: State, source: ByteString, name: ByteString): number {
  machine.checkMeter();
  if (machine.load(state, source, name)) return 1;
  machine.api.lua_pushnil(state);
  machine.api.lua_insert(state, -2);
  return 2;
}

/** Lua's own loops as often as it is told, even over nothing. */
function repeat(machine: LuaMachine, state: State): number {
  machine.checkMeter();
  const { length } = machine.checkedSpan(state, 1);
  const times = machine.api.luaL_checknumber(state, 2) | 0;
  if (length > 0 && times > 0) {
    if (length * times > MAX_HEAP_BYTES) machine.refuseMemory();
    return native(machine, state, 'rep');
  }
  machine.push(state, '');
  return 1;
}

function insert(machine: LuaMachine, state: State): number {
  if (machine.isShielded(state, 1)) {
    machine.push(state, READ_ONLY);
    return machine.raise(state);
  }
  // In the middle it moves what comes after.
  if (machine.api.lua_gettop(state) > 2) machine.checkMeter();
  return native(machine, state, 'insert');
}

function metered(name: string): HostFunction {
  return (machine, state) => {
    machine.checkMeter();
    return native(machine, state, name);
  };
}

/** The error handler of every run: the error as a table, with the place it came from. */
export function describeError(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const direct = machine.callSite(state, 1);
  const site = direct?.what === 'C' ? machine.callSite(state, 2) : direct;
  if (api.lua_type(state, 1) !== LUA.TABLE || machine.isShielded(state, 1)) {
    const text = errorText(machine, state);
    api.lua_settop(state, 0);
    api.lua_createtable(state, 0, 3);
    machine.push(state, `ERR ${text}`);
    api.lua_setfield(state, 1, machine.name('err'));
  }
  if (site === undefined) return 1;
  machine.push(state, 'source');
  machine.push(state, site.source);
  api.lua_rawset(state, 1);
  machine.push(state, 'line');
  api.lua_pushnumber(state, site.line);
  api.lua_rawset(state, 1);
  return 1;
}

function errorText(machine: LuaMachine, state: State): ByteString {
  const { api } = machine;
  const type = api.lua_type(state, 1);
  if (type === LUA.STRING || type === LUA.NUMBER) return machine.string(state, 1) as ByteString;
  if (type <= LUA.NIL) return 'nil';
  if (type === LUA.BOOLEAN) return api.lua_toboolean(state, 1) === 1 ? 'true' : 'false';
  return bytesOfBuffer(Buffer.from(`${machine.typeName(state, 1)}: 0x${api.lua_topointer(state, 1).toString(16)}`));
}
