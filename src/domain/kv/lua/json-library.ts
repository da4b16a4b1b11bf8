/** The `cjson` library of scripts. Changed options last until the end of the run. */
import { JsonDecoder } from './json-decode.js';
import { JsonEncoder } from './json-encode.js';
import { JsonOptions } from './json-options.js';
import { LUA, type State } from './lua-api.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { fill } from './sandbox.js';

const MAX_INT = 2 ** 31 - 1;

export const JSON_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['encode', encode],
  ['decode', decode],
  ['encode_sparse_array', encodeSparseArray],
  ['encode_max_depth', integerOption('encodeMaxDepth', MAX_INT)],
  ['decode_max_depth', integerOption('decodeMaxDepth', MAX_INT)],
  ['encode_number_precision', integerOption('precision', 14)],
  ['encode_keep_buffer', booleanOption('keepBuffer')],
  ['encode_invalid_numbers', encodeInvalidNumbers],
  ['decode_invalid_numbers', booleanOption('decodeInvalid')],
  ['new', another],
]);

/** Functions that may run in slices. */
export const JSON_IN_STEPS: readonly HostFunction[] = [encode, decode];

function optionsOf(machine: LuaMachine): JsonOptions {
  return machine.run?.json ?? new JsonOptions();
}

function encode(machine: LuaMachine, state: State): number {
  if (machine.api.lua_gettop(state) !== 1) machine.failArgument(state, 1, 'expected 1 argument');
  return new JsonEncoder(machine, state, optionsOf(machine)).run();
}

function decode(machine: LuaMachine, state: State): number {
  if (machine.api.lua_gettop(state) !== 1) machine.failArgument(state, 1, 'expected 1 argument');
  const text = machine.checkedString(state, 1);
  return new JsonDecoder(machine, state, text, optionsOf(machine)).run();
}

/** Looks like a separate module to scripts; the options are shared. */
function another(machine: LuaMachine, state: State): number {
  machine.api.lua_createtable(state, 0, JSON_FUNCTIONS.size + 3);
  fill(machine, [...JSON_FUNCTIONS, ...JSON_CONSTANTS, ['null', null]], state);
  return 1;
}

export const JSON_CONSTANTS = [
  ['_NAME', 'cjson'],
  ['_VERSION', '2.1.0'],
] as const;

function checkCount(machine: LuaMachine, state: State, most: number): void {
  if (machine.api.lua_gettop(state) > most) machine.failArgument(state, most + 1, 'found too many arguments');
}

function isGiven(machine: LuaMachine, state: State, argument: number): boolean {
  return machine.api.lua_type(state, argument) > LUA.NIL;
}

function integer(machine: LuaMachine, state: State, argument: number, least: number, most: number): number {
  const number = Math.trunc(machine.api.luaL_checknumber(state, argument));
  if (!(number >= least && number <= most)) {
    machine.failArgument(state, argument, `expected integer between ${least} and ${most}`);
  }
  return number;
}

function integerOption(option: 'encodeMaxDepth' | 'decodeMaxDepth' | 'precision', most: number): HostFunction {
  return (machine, state) => {
    checkCount(machine, state, 1);
    const options = optionsOf(machine);
    if (isGiven(machine, state, 1)) options[option] = integer(machine, state, 1, 1, most);
    machine.api.lua_pushnumber(state, options[option]);
    return 1;
  };
}

/** Parses `off`, `on`, a boolean, or one of `more`; returns its index. */
function choice(machine: LuaMachine, state: State, argument: number, more: readonly string[]): number {
  const { api } = machine;
  if (api.lua_type(state, argument) === LUA.BOOLEAN) return api.lua_toboolean(state, argument);
  const word = machine.checkedString(state, argument);
  const found = ['off', 'on', ...more].indexOf(word);
  return found >= 0 ? found : machine.failArgument(state, argument, `invalid option '${word}'`);
}

function booleanOption(option: 'keepBuffer' | 'decodeInvalid'): HostFunction {
  return (machine, state) => {
    checkCount(machine, state, 1);
    const options = optionsOf(machine);
    if (isGiven(machine, state, 1)) options[option] = choice(machine, state, 1, []) === 1;
    machine.api.lua_pushboolean(state, options[option] ? 1 : 0);
    return 1;
  };
}

const INVALID_CHOICES = ['refused', 'written', 'null'] as const;

function encodeInvalidNumbers(machine: LuaMachine, state: State): number {
  checkCount(machine, state, 1);
  const options = optionsOf(machine);
  if (isGiven(machine, state, 1)) {
    options.encodeInvalid = INVALID_CHOICES[choice(machine, state, 1, ['null'])] ?? 'refused';
  }
  if (options.encodeInvalid === 'null') machine.push(state, 'null');
  else machine.api.lua_pushboolean(state, options.encodeInvalid === 'written' ? 1 : 0);
  return 1;
}

function encodeSparseArray(machine: LuaMachine, state: State): number {
  checkCount(machine, state, 3);
  const options = optionsOf(machine);
  if (isGiven(machine, state, 1)) options.convertSparse = choice(machine, state, 1, []) === 1;
  if (isGiven(machine, state, 2)) options.sparseRatio = integer(machine, state, 2, 0, MAX_INT);
  if (isGiven(machine, state, 3)) options.sparseSafe = integer(machine, state, 3, 0, MAX_INT);
  machine.api.lua_pushboolean(state, options.convertSparse ? 1 : 0);
  machine.api.lua_pushnumber(state, options.sparseRatio);
  machine.api.lua_pushnumber(state, options.sparseSafe);
  return 3;
}
