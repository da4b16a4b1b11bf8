/**
 * Wrappers of Lua's own functions: those that bypass metatables respect shields, long-running ones check the clock, and
 * those that count in 32 bits are widened.
 */
import type { ByteString } from '../../../kernel/index.js';
import { GLOBALS_INDEX, LUA, REGISTRY_INDEX, type State } from './lua-api.js';
import { MAX_HEAP_BYTES } from './lua-limits.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { unsignedOf, widenFormat } from './wide-integers.js';

const MAX_INT32 = 2 ** 31 - 1;
/** More results do not fit Lua's stack. */
const MAX_UNPACKED = 8_000;
const READ_ONLY = 'Attempt to modify a readonly table';

/** Metatables that scripts may read but not change. */
export const STRING_METATABLE = 'string metatable';
export const GLOBALS_METATABLE = 'globals metatable';
export const GLOBALS = 'globals shield';

/** Wrappers of base functions; `natives` holds the originals. */
export const WRAPPED: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['collectgarbage', collectGarbage],
  ['getmetatable', getMetatable],
  ['load', load],
  ['loadstring', loadString],
  ['next', unshieldFirst('next')],
  ['rawget', unshieldFirst('rawget')],
  ['rawset', refuseShielded('rawset')],
  ['setmetatable', refuseShielded('setmetatable')],
  ['tonumber', toNumber],
  ['unpack', unpackTable],
]);

export const STRING_WRAPS: ReadonlyMap<string, HostFunction> = new Map([
  ['rep', repeat],
  ['sub', sub],
  ['format', format],
]);
/** Hide from scripts that a run is a coroutine. */
export const COROUTINE_WRAPS: ReadonlyMap<string, HostFunction> = new Map([
  ['yield', yieldWithin],
  ['running', running],
]);
export const TABLE_WRAPS: ReadonlyMap<string, HostFunction> = new Map([
  ['insert', insert],
  ['remove', metered('remove')],
  ['concat', metered('concat')],
  ['sort', metered('sort')],
]);

function native(machine: LuaMachine, state: State, name: string): number {
  return machine.callNative(state, machine.natives.get(name) as number);
}

function yieldWithin(machine: LuaMachine, state: State): number {
  if (!machine.slices.isOfRun(state)) return native(machine, state, 'yield');
  machine.push(state, 'attempt to yield across metamethod/C-call boundary');
  return machine.raise(state);
}

function running(machine: LuaMachine, state: State): number {
  if (!machine.slices.isOfRun(state)) return native(machine, state, 'running');
  machine.api.lua_pushnil(state);
  return 1;
}

export function refuseWrite(machine: LuaMachine, state: State): number {
  return machine.fail(state, READ_ONLY);
}

export function refuseUnknownGlobal(machine: LuaMachine, state: State): number {
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

/** The upvalue is the `next` that respects shields; other tables use Lua's own `next`. */
export function pairs(machine: LuaMachine, state: State): number {
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

/** The collector stays on: commands to stop or tune it have no effect. */
function collectGarbage(machine: LuaMachine, state: State): number {
  machine.slices.checkMeter();
  const option = machine.api.lua_type(state, 1) === LUA.STRING ? machine.string(state, 1) : undefined;
  if (option === 'stop' || option === 'restart' || option === 'setpause' || option === 'setstepmul') {
    machine.api.lua_pushnumber(state, 0);
    return 1;
  }
  return native(machine, state, 'collectgarbage');
}

function loadString(machine: LuaMachine, state: State): number {
  const source = machine.checkedString(state, 1);
  const name = machine.api.lua_type(state, 2) > LUA.NIL ? machine.checkedString(state, 2) : source;
  return loaded(machine, state, source, name);
}

/** Collects all pieces first, so that the source is compiled as a whole. */
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
  machine.slices.checkMeter();
  if (machine.load(state, source, name)) return 1;
  machine.api.lua_pushnil(state);
  machine.api.lua_insert(state, -2);
  return 2;
}

/** Lua's own function loops as often as requested, even for an empty string. */
function repeat(machine: LuaMachine, state: State): number {
  machine.slices.checkMeter();
  const { length } = machine.checkedSpan(state, 1);
  const times = machine.api.luaL_checknumber(state, 2) | 0;
  if (length > 0 && times > 0) {
    if (length * times > MAX_HEAP_BYTES) machine.refuseMemory();
    return native(machine, state, 'rep');
  }
  machine.push(state, '');
  return 1;
}

/** Lua's integers have 32 bits here and 64 on the servers that scripts were written for: offsets are clamped. */
function sub(machine: LuaMachine, state: State): number {
  const { api } = machine;
  for (const argument of [2, 3]) {
    if (api.lua_type(state, argument) !== LUA.NUMBER) continue;
    const offset = api.lua_tonumber(state, argument);
    if (Math.abs(offset) < MAX_INT32 || !(Math.abs(offset) < 2 ** 63)) continue;
    api.lua_pushnumber(state, Math.sign(offset) * MAX_INT32);
    api.lua_replace(state, argument);
  }
  return native(machine, state, 'sub');
}

function format(machine: LuaMachine, state: State): number {
  machine.slices.checkMeter();
  if (machine.api.lua_type(state, 1) === LUA.STRING) widenFormat(machine, state);
  return native(machine, state, 'format');
}

/** Lua's own function counts the results in 32 bits, and an overflow traps in the binary. */
function unpackTable(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const first = api.lua_type(state, 2) > LUA.NIL ? api.luaL_checknumber(state, 2) : 1;
  if (api.lua_type(state, 3) <= LUA.NIL) return native(machine, state, 'unpack');
  const last = api.luaL_checknumber(state, 3);
  if (last - first >= MAX_UNPACKED) return machine.fail(state, 'too many results to unpack');
  return native(machine, state, 'unpack');
}

function toNumber(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const base = api.lua_type(state, 2) > LUA.NIL ? api.luaL_checknumber(state, 2) : 10;
  if (base === 10 || api.lua_type(state, 1) !== LUA.STRING) return native(machine, state, 'tonumber');
  const value = unsignedOf(machine.string(state, 1) as ByteString, base);
  // Numbers that fit, and errors, are left to Lua's own function.
  if (value === undefined || value <= 0xffffffffn) return native(machine, state, 'tonumber');
  api.lua_pushnumber(state, Number(value));
  return 1;
}

function insert(machine: LuaMachine, state: State): number {
  if (machine.isShielded(state, 1)) {
    machine.push(state, READ_ONLY);
    return machine.raise(state);
  }
  // Inserting in the middle moves the following items.
  if (machine.api.lua_gettop(state) > 2) machine.slices.checkMeter();
  return native(machine, state, 'insert');
}

function metered(name: string): HostFunction {
  return (machine, state) => {
    machine.slices.checkMeter();
    return native(machine, state, name);
  };
}
