/** Converts replies of commands to Lua values, for the protocol chosen by `redis.setresp`. */
import {
  BooleanReply,
  DoubleReply,
  ErrorReply,
  flatten,
  KeyedReply,
  MapReply,
  NilArray,
  PairsReply,
  pairsOf,
  type Reply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../reply.js';
import { SlicePace } from '../slices.js';
import { BYTES_A_LOOKUP, inOneStep, SLICE_ITEMS, type Steps } from '../steps.js';
import type { State } from './lua-api.js';
import { LONG_STRING_BYTES } from './lua-limits.js';
import type { LuaMachine } from './machine.js';

/** Pushes one value. */
export function pushReply(machine: LuaMachine, state: State, reply: Reply, protocol: 2 | 3): void {
  if (typeof reply === 'string') machine.push(state, reply);
  else if (typeof reply === 'number') machine.api.lua_pushnumber(state, reply);
  else if (protocol === 3) pushRich(machine, state, reply);
  else pushFlat(machine, state, reply);
}

function pushFlat(machine: LuaMachine, state: State, given: Reply): void {
  const { api } = machine;
  const reply = flatten(given);
  if (typeof reply === 'string' || typeof reply === 'number') pushReply(machine, state, reply, 2);
  else if (typeof reply === 'bigint') api.lua_pushnumber(state, Number(reply));
  else if (reply === null || reply instanceof NilArray) api.lua_pushboolean(state, 0);
  else if (reply instanceof SimpleString) pushField(machine, state, 'ok', reply.text);
  else if (reply instanceof ErrorReply) pushError(machine, state, reply.text);
  else pushList(machine, state, reply, 2);
}

function pushRich(machine: LuaMachine, state: State, reply: Reply): void {
  const { api } = machine;
  if (reply === null || reply instanceof NilArray) api.lua_pushnil(state);
  else if (reply instanceof BooleanReply) api.lua_pushboolean(state, reply.value ? 1 : 0);
  else if (reply instanceof DoubleReply) {
    api.lua_createtable(state, 0, 1);
    api.lua_pushnumber(state, reply.value);
    api.lua_setfield(state, -2, machine.name('double'));
  } else if (reply instanceof VerbatimReply) {
    api.lua_createtable(state, 0, 1);
    pushField(machine, state, 'string', reply.text);
    machine.push(state, reply.format);
    api.lua_setfield(state, -2, machine.name('format'));
    api.lua_setfield(state, -2, machine.name('verbatim_string'));
  } else if (reply instanceof MapReply || reply instanceof KeyedReply) {
    inOneStep(pushMap(machine, state, reply.items, 'map'));
  } else if (reply instanceof SetReply) {
    inOneStep(pushMap(machine, state, withTrue(reply.items), 'set'));
  } else if (reply instanceof PairsReply) {
    pushList(machine, state, pairsOf(reply.items), 3);
  } else if (Array.isArray(reply)) {
    pushList(machine, state, reply as readonly Reply[], 3);
  } else {
    pushFlat(machine, state, reply);
  }
}

/** As `pushReply`, in slices for large replies. */
export function* pushReplyInSteps(machine: LuaMachine, state: State, reply: Reply, protocol: 2 | 3): Steps<void> {
  const isRich = protocol === 3;
  if (isRich && (reply instanceof MapReply || reply instanceof KeyedReply)) {
    yield* pushMap(machine, state, reply.items, 'map');
  } else if (isRich && reply instanceof SetReply) {
    yield* pushMap(machine, state, withTrue(reply.items), 'set');
  } else {
    const list = isRich && reply instanceof PairsReply ? pairsOf(reply.items) : flatten(reply);
    if (Array.isArray(list)) yield* pushListInSteps(machine, state, list as readonly Reply[], protocol);
    else if (typeof list === 'string') yield* machine.pushInSlices(state, list);
    else pushReply(machine, state, reply, protocol);
  }
}

function pushList(machine: LuaMachine, state: State, items: readonly Reply[], protocol: 2 | 3): void {
  const { api } = machine;
  api.lua_checkstack(state, 4);
  api.lua_createtable(state, items.length, 0);
  for (let i = 0; i < items.length; i += 1) {
    pushReply(machine, state, items[i] as Reply, protocol);
    api.lua_rawseti(state, -2, i + 1);
  }
}

function* pushListInSteps(machine: LuaMachine, state: State, items: readonly Reply[], protocol: 2 | 3): Steps<void> {
  const { api } = machine;
  const pace = new SlicePace();
  api.lua_checkstack(state, 4);
  api.lua_createtable(state, items.length, 0);
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i] as Reply;
    if (isLong(item)) yield* pushReplyInSteps(machine, state, item, protocol);
    else pushReply(machine, state, item, protocol);
    api.lua_rawseti(state, -2, i + 1);
    if (pace.isDue(workOfItem(item))) yield;
  }
}

/** Values in a map are converted as RESP3. */
function* pushMap(machine: LuaMachine, state: State, items: readonly Reply[], field: string): Steps<void> {
  const { api } = machine;
  const pace = new SlicePace();
  api.lua_checkstack(state, 6);
  api.lua_createtable(state, 0, 1);
  api.lua_createtable(state, 0, items.length / 2);
  for (let i = 0; i + 1 < items.length; i += 2) {
    const value = items[i + 1] as Reply;
    pushReply(machine, state, items[i] as Reply, 3);
    if (isLong(value)) yield* pushReplyInSteps(machine, state, value, 3);
    else pushReply(machine, state, value, 3);
    api.lua_rawset(state, -3);
    if (pace.isDue(1 + workOfItem(value))) yield;
  }
  api.lua_setfield(state, -2, machine.name(field));
}

function withTrue(items: readonly Reply[]): Reply[] {
  return items.flatMap((item) => [item, new BooleanReply(true)]);
}

function isLong(reply: Reply): boolean {
  if (typeof reply === 'string') return reply.length > LONG_STRING_BYTES;
  const list = flatten(reply);
  return Array.isArray(list) && list.length > SLICE_ITEMS;
}

/** The work in lookups; the items of a list that was pushed in slices are already counted. */
function workOfItem(reply: Reply): number {
  if (typeof reply === 'string') return 1 + reply.length / BYTES_A_LOOKUP;
  const list = flatten(reply);
  if (!Array.isArray(list) || list.length > SLICE_ITEMS) return 1;
  let work = 1;
  for (const item of list as readonly Reply[]) work += workOfItem(item);
  return work;
}

function pushField(machine: LuaMachine, state: State, field: string, text: string): void {
  machine.api.lua_createtable(state, 0, 1);
  machine.push(state, text);
  machine.api.lua_setfield(state, -2, machine.name(field));
}

/** Pushes an error table, as `redis.pcall` returns it. */
export function pushError(machine: LuaMachine, state: State, text: string): void {
  pushField(machine, state, 'err', text);
  machine.api.lua_pushboolean(state, 1);
  machine.api.lua_setfield(state, -2, machine.name('ignore_error_stats_update'));
}
