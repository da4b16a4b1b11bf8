/**
 * `pcall`, implemented so that a run can pause within it: the called function runs in a separate coroutine. When that
 * pauses, the run and the call pause too, and continue together. A C function that has paused cannot continue but only
 * return, so a few lines of Lua surround it. Lua only continues in a function that Lua called, so another Lua function
 * surrounds host functions that may run in slices.
 *
 * Where a run cannot pause (in a metamethod, in a script's own coroutine, deep within other calls) Lua's `pcall` is
 * used.
 */
import { bytesOfBuffer } from '../../../kernel/index.js';
import { LUA, MULTIPLE_RESULTS, type State } from './lua-api.js';
import type { LuaMachine } from './machine.js';

const SOURCE = `
local begin, goOn, through = ...
local function finish(isOver, ...)
  if isOver then return ... end
  return finish(goOn())
end
return function(...) return finish(begin(through, ...)) end`;

/**
 * `function(f, ...) return f(...) end`, compiled without names and lines. An error in `f` reports its position and the
 * name by which it was called, and must not report this function, which the script does not contain.
 */
const THROUGH_BYTECODE = bytesOfBuffer(
  Buffer.from(
    [
      '1b4c7561 5100 01 04 04 04 08 00', // Lua 5.1, little endian, the sizes of its types
      '00000000 00000000 00000000 00 01 02 03', // no source, no lines, no upvalues; f and varargs, three registers
      '05000000 40000000 a5000000 5d000000 5e000000 1e008000', // MOVE 1 0, VARARG 2, TAILCALL 1, RETURN 1, RETURN
      '00000000 00000000 00000000 00000000 00000000', // no constants, functions, lines, names, or upvalue names
    ]
      .join('')
      .replaceAll(' ', ''),
    'hex',
  ),
);

/**
 * Nested protected calls, each a nested call of the machine. Deeper ones use Lua's `pcall`, which has its own bound.
 */
const MAX_DEPTH = 100;

/** The number of values before the arguments of `pcall`. */
const THROUGH = 1;

export const PROTECTED_CALL_PARTS = [begin, goOn];

/** Pushes `pcall`. */
export function pushProtectedCall(machine: LuaMachine, state: State): void {
  machine.load(state, SOURCE, '=pcall');
  for (const part of PROTECTED_CALL_PARTS) machine.pushFunction(state, part);
  machine.loadCompiled(state, THROUGH_BYTECODE);
  machine.api.lua_call(state, PROTECTED_CALL_PARTS.length + 1, 1);
}

/** Returns whether the call is over, followed by the results of `pcall`. */
function begin(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const given = api.lua_gettop(state) - THROUGH;
  if (given === 0) {
    api.luaL_where(state, 2);
    machine.push(state, "bad argument #1 to 'pcall' (value expected)");
    api.lua_concat(state, 2);
    return machine.raise(state);
  }
  if (machine.slices.depth >= MAX_DEPTH || !machine.slices.canLeave(state)) return callInPlace(machine, state);
  const inner = machine.slices.enter(state);
  const moved = machine.mayTakeSteps(state, THROUGH + 1) ? THROUGH + given : given;
  if (api.lua_checkstack(inner, moved) === 0) return overflow(machine, state);
  api.lua_xmove(state, inner, moved);
  return step(machine, state, inner, moved - 1);
}

function goOn(machine: LuaMachine, state: State): number {
  return step(machine, state, machine.slices.within(state), 0);
}

function step(machine: LuaMachine, state: State, inner: State, args: number): number {
  const { api } = machine;
  const came = machine.slices.resume(inner, args);
  if (came === 'paused') return api.lua_yield(state, 0);
  const results = came === 'done' ? api.lua_gettop(inner) : 1;
  if (api.lua_checkstack(state, results + 2) === 0) return overflow(machine, state);
  api.lua_pushboolean(state, 1);
  api.lua_pushboolean(state, came === 'done' ? 1 : 0);
  api.lua_xmove(inner, state, results);
  machine.slices.leave(came === 'failed');
  if (came === 'failed') takeText(machine, state);
  return results + 2;
}

function overflow(machine: LuaMachine, state: State): never {
  machine.slices.leave(true);
  return machine.fail(state, 'stack overflow');
}

function callInPlace(machine: LuaMachine, state: State): number {
  const { api } = machine;
  api.lua_remove(state, THROUGH);
  const isDone = api.lua_pcall(state, api.lua_gettop(state) - 1, MULTIPLE_RESULTS, 0) === 0;
  if (!isDone) takeText(machine, state);
  if (api.lua_checkstack(state, 2) === 0) return machine.fail(state, 'stack overflow');
  for (const flag of [isDone ? 1 : 0, 1]) {
    api.lua_pushboolean(state, flag);
    api.lua_insert(state, 1);
  }
  return api.lua_gettop(state);
}

/** As in Redis, an error table with a text becomes that text. */
function takeText(machine: LuaMachine, state: State): void {
  const { api } = machine;
  if (api.lua_type(state, -1) !== LUA.TABLE) return;
  if (machine.rawField(state, -1, 'err') === LUA.STRING) api.lua_replace(state, -2);
  else machine.pop(state);
}
