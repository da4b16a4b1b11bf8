/** Converts a script's error to a table with its text and position, from which the reply is made. */
import type { ByteString } from '../../../kernel/index.js';
import { LUA, type State } from './lua-api.js';
import type { LuaMachine } from './machine.js';

/** An error handler: replaces the error by a table with its text and position. */
export function describeError(machine: LuaMachine, state: State): number {
  return describe(machine, state, state, 1);
}

/**
 * Replaces the error, the only value on `state`, by such a table. @param raised the stack on which it was raised,
 * unchanged since then @param level of the function that raised it
 */
export function describe(machine: LuaMachine, state: State, raised: State, level: number): number {
  const { api } = machine;
  const direct = machine.callSite(raised, level);
  const site = direct?.kind === 'C' ? machine.callSite(raised, level + 1) : direct;
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
  return `${machine.typeName(state, 1)}: 0x${api.lua_topointer(state, 1).toString(16)}`;
}
