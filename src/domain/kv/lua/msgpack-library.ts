/** The `cmsgpack` library of scripts: conversion to and from MessagePack. */
import type { State } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { MsgpackPacker } from './msgpack-pack.js';
import { MsgpackUnpacker } from './msgpack-unpack.js';

export const MSGPACK_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['pack', pack],
  ['unpack', (machine, state) => unpack(machine, state, 0, 0)],
  ['unpack_one', (machine, state) => unpack(machine, state, 1, Math.trunc(machine.api.luaL_optnumber(state, 2, 0)))],
  [
    'unpack_limit',
    (machine, state) => {
      const limit = Math.trunc(machine.api.luaL_checknumber(state, 2));
      return unpack(machine, state, limit, Math.trunc(machine.api.luaL_optnumber(state, 3, 0)));
    },
  ],
]);

/** Functions that may run in slices. */
export const MSGPACK_IN_STEPS: readonly HostFunction[] = [...MSGPACK_FUNCTIONS.values()];

export const MSGPACK_CONSTANTS = [
  ['_NAME', 'cmsgpack'],
  ['_VERSION', 'lua-cmsgpack 0.4.0'],
  ['_COPYRIGHT', 'Copyright (C) 2012, Salvatore Sanfilippo'],
  ['_DESCRIPTION', 'MessagePack C implementation for Lua'],
] as const;

function pack(machine: LuaMachine, state: State): number {
  const { api } = machine;
  const count = api.lua_gettop(state);
  if (count === 0) machine.failArgument(state, 0, 'MessagePack pack needs input.');
  if (api.lua_checkstack(state, count) === 0)
    machine.failArgument(state, 0, 'Too many arguments for MessagePack pack.');
  return new MsgpackPacker(machine, state, count).run();
}

/**
 * Unpacks at most `limit` values, 0: all. With a limit the first result is the offset to continue from, -1 at the end.
 */
function unpack(machine: LuaMachine, state: State, limit: number, offset: number): number {
  const data = machine.checkedSpan(state, 1);
  if (offset < 0 || limit < 0) {
    machine.fail(state, `Invalid request to unpack with offset of ${offset} and limit of ${data.length}.`);
  }
  if (offset > data.length) {
    machine.fail(state, `Start offset ${offset} greater than input length ${data.length}.`);
  }
  return new MsgpackUnpacker(machine, state, data, { limit, offset }).run();
}
