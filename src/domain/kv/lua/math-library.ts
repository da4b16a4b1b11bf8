/** The functions of `math` and `os` that replace Lua's own. */
import type { State } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';

export const MATH_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['random', random],
  [
    'randomseed',
    (machine, state) => {
      machine.run?.random.seed(machine.api.luaL_checknumber(state, 1));
      return 0;
    },
  ],
]);

export const OS_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  [
    'clock',
    (machine, state) => {
      machine.api.lua_pushnumber(state, machine.slices.clockMicros / 1e6);
      return 1;
    },
  ],
]);

function random(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const fraction = machine.run?.random.next() ?? 0;
  const count = api.lua_gettop(state);
  if (count === 0) {
    api.lua_pushnumber(state, fraction);
    return 1;
  }
  if (count > 2) return machine.fail(state, 'wrong number of arguments');
  const from = count === 1 ? 1 : Math.trunc(api.luaL_checknumber(state, 1));
  const to = Math.trunc(api.luaL_checknumber(state, count));
  if (!(from <= to)) return machine.failArgument(state, count, 'interval is empty');
  api.lua_pushnumber(state, Math.floor(fraction * (to - from + 1)) + from);
  return 1;
}
