/** The `redis` table of scripts: commands, replies and the other functions of Redis. */
import { createHash } from 'node:crypto';
import type { ByteString } from '../../../kernel/index.js';
import { PermissionDenied } from '../acl/permission-denied.js';
import { accessedKeysOf, isWrite } from '../command-description.js';
import type { CommandSpec } from '../command-spec.js';
import { isOwnKey } from '../hash-slot.js';
import { formatDouble } from '../numbers.js';
import { ERRORS, ErrorReply, type Reply, replyBytes } from '../reply.js';
import type { Steps } from '../steps.js';
import { LUA, type State } from './lua-api.js';
import { LONG_STRING_BYTES, MAX_COPIED_BYTES } from './lua-limits.js';
import { VALUE_BYTES } from './lua-memory.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { formatG } from './number-text.js';
import { pushError, pushReply, pushReplyInSteps } from './reply-to-lua.js';
import { RAISED } from './run-slices.js';
import type { ScriptRun } from './script-run.js';

const LOG_LEVELS = { LOG_DEBUG: 0, LOG_VERBOSE: 1, LOG_NOTICE: 2, LOG_WARNING: 3 } as const;
const REPLICATION = { REPL_NONE: 0, REPL_AOF: 1, REPL_SLAVE: 2, REPL_REPLICA: 2, REPL_ALL: 3 } as const;
const NO_ARGUMENT = 'Please specify at least one argument for this redis lib call';

export const REDIS_CONSTANTS: readonly (readonly [string, number])[] = [
  ...Object.entries(LOG_LEVELS),
  ...Object.entries(REPLICATION),
];

const call: HostFunction = (machine, state) => command(machine, state, true);
const pcall: HostFunction = (machine, state) => command(machine, state, false);

/** Functions that may run in slices. */
export const REDIS_IN_STEPS: readonly HostFunction[] = [call, pcall];

export const REDIS_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['call', call],
  ['pcall', pcall],
  ['error_reply', errorReply],
  ['status_reply', statusReply],
  ['sha1hex', sha1hex],
  ['setresp', setResp],
  ['log', log],
  ['acl_check_cmd', aclCheck],
  ['set_repl', setRepl],
  ['replicate_commands', (machine, state) => pushBoolean(machine, state, true)],
  ['breakpoint', (machine, state) => pushBoolean(machine, state, false)],
  ['debug', () => 0],
]);

/** The functions available while a library is loaded. */
export const LOADING_FUNCTIONS = ['log'] as const;

export function sha1(text: ByteString): ByteString {
  return createHash('sha1').update(text, 'latin1').digest('hex');
}

function command(machine: LuaMachine, state: State, raises: boolean): number {
  const run = machine.run as ScriptRun;
  const words = commandWords(machine, state);
  if (typeof words === 'string') return give(machine, state, new ErrorReply(`ERR ${words}`), raises);
  const spec = admitted(run, words);
  if (spec instanceof ErrorReply) return give(machine, state, spec, raises);
  const { context } = run;
  context.audience.noteScriptCall?.(spec, words);
  seeProtocol(run);
  if (spec.sliced !== undefined && context.isLong(spec, words) && machine.slices.canPause(state)) {
    return machine.slices.inSteps(state, answerInSteps(machine, state, spec, words, raises));
  }
  const reply = context.call(spec, words);
  context.statistics.count(spec, 0, reply instanceof ErrorReply ? reply.text : undefined);
  if (replyBytes(reply) > LONG_STRING_BYTES) return machine.slices.inSteps(state, longReply(machine, state, reply));
  return give(machine, state, reply, raises);
}

function* longReply(machine: LuaMachine, state: State, reply: Reply): Steps<number> {
  yield* pushReplyInSteps(machine, state, reply, (machine.run as ScriptRun).protocol);
  return 1;
}

function give(machine: LuaMachine, state: State, reply: Reply, raises: boolean): number {
  if (!(reply instanceof ErrorReply)) {
    pushReply(machine, state, reply, (machine.run as ScriptRun).protocol);
    return 1;
  }
  pushError(machine, state, reply.text);
  return raises ? machine.raise(state) : 1;
}

/** The arguments as words, or the error text. */
function commandWords(machine: LuaMachine, state: State): ByteString[] | string {
  const { memory } = machine;
  const top = memory.top(state);
  let at = memory.base(state);
  if (at === top) return NO_ARGUMENT;
  // Allocated with its final length: an array that grows reserves 16 slots, for each command.
  const words = new Array<ByteString>((top - at) / VALUE_BYTES);
  let bytes = 0;
  for (let i = 0; at < top; at += VALUE_BYTES, i += 1) {
    const type = memory.typeAt(at);
    let word: ByteString;
    if (type === LUA.STRING) word = memory.stringAt(at);
    else if (type === LUA.NUMBER) word = numberWord(memory.numberAt(at));
    else return 'Lua redis lib command arguments must be strings or integers';
    words[i] = word;
    bytes += word.length;
    if (bytes > MAX_COPIED_BYTES) return 'the arguments of a command are too large';
  }
  return words;
}

function numberWord(number: number): ByteString {
  if (Number.isSafeInteger(number)) return Object.is(number, -0) ? '0' : String(number);
  if (Number.isInteger(number) && Math.abs(number) < 2 ** 63) return String(BigInt(number));
  return Number.isFinite(number) ? formatDouble(number) : formatG(number, 17);
}

/** Runs a long command, and pushes a possibly long reply, in slices. */
function* answerInSteps(
  machine: LuaMachine,
  state: State,
  spec: CommandSpec,
  words: readonly ByteString[],
  raises: boolean,
): Steps<number> {
  const run = machine.run as ScriptRun;
  const { context } = run;
  const slices = context.callInSlices(spec, words);
  let step = slices.next();
  while (step.done !== true) {
    yield;
    seeProtocol(run);
    step = slices.next();
  }
  const reply = step.value;
  const isRefused = reply instanceof ErrorReply;
  context.statistics.count(spec, 0, isRefused ? reply.text : undefined);
  if (isRefused) pushError(machine, state, reply.text);
  else yield* pushReplyInSteps(machine, state, reply, run.protocol);
  return isRefused && raises ? RAISED : 1;
}

/** The command's row, or the error if it may not be called. */
function admitted(run: ScriptRun, words: readonly ByteString[]): CommandSpec | ErrorReply {
  const spec = run.context.commands.admit(words);
  if (!(spec instanceof ErrorReply)) return refusalOf(run, spec, words) ?? spec;
  const isArity = spec.text.startsWith('ERR wrong number of arguments');
  return new ErrorReply(
    isArity
      ? 'ERR Wrong number of args calling Redis command from script'
      : 'ERR Unknown Redis command called from script',
  );
}

/**
 * The script's commands use the reply protocol that the script chose; it is set before each command, because commands
 * of other clients use their own.
 */
function seeProtocol({ context, protocol }: ScriptRun): void {
  (context as { protocol: 2 | 3 }).protocol = protocol;
}

const NOT_FROM_SCRIPTS = new ErrorReply('ERR This Redis command is not allowed from script');
/** A script runs in one partition and cannot reach keys of others. */
const NOT_HERE = new ErrorReply('ERR Script attempted to access a non local key in a cluster node');
const READ_ONLY = new ErrorReply('ERR Write commands are not allowed from read-only scripts.');

function refusalOf(run: ScriptRun, spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  if (spec.isForScripts === false) return NOT_FROM_SCRIPTS;
  const { permissions } = run.context;
  if (permissions !== undefined) {
    const refusal = permissions.refusal(spec, words);
    if (refusal !== undefined) {
      if (refusal instanceof PermissionDenied) run.context.audience.noteScriptDenial?.(refusal);
      return new ErrorReply(`ERR ACL failure in script: ${refusal.text.replace(/^NOPERM /, '')}`);
    }
  }
  if (run.isReadOnly && (isWrite(spec) || spec.countsAsWrite === true)) return READ_ONLY;
  if (run.context.isFull && !run.mayGrow && spec.mayGrow === true) return ERRORS.databaseFull;
  const { slots } = run.context;
  if (slots !== undefined && accessedKeysOf(spec, words).some(({ key }) => !isOwnKey(slots, key))) return NOT_HERE;
  if (run.lockedKeys !== undefined) return undeclaredKey(run.lockedKeys, spec, words);
  return undefined;
}

function undeclaredKey(
  declared: ReadonlySet<ByteString>,
  spec: CommandSpec,
  words: readonly ByteString[],
): ErrorReply | undefined {
  const stray = accessedKeysOf(spec, words).find(({ key }) => !declared.has(key));
  if (stray === undefined) return undefined;
  return new ErrorReply(
    `ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: ${stray.key}`,
  );
}

function aclCheck(machine: LuaMachine, state: State): number {
  const words = commandWords(machine, state);
  if (typeof words === 'string') return raiseText(machine, state, words);
  const { context } = machine.run as ScriptRun;
  const spec = context.commands.admit(words);
  if (spec instanceof ErrorReply && !spec.text.startsWith('ERR wrong number')) {
    return raiseText(machine, state, 'Invalid command passed to redis.acl_check_cmd()');
  }
  const isAllowed = spec instanceof ErrorReply || context.permissions?.refusal(spec, words) === undefined;
  return pushBoolean(machine, state, isAllowed);
}

/** Raises an error of the library itself, as a table like those of commands. */
export function raiseText(machine: LuaMachine, state: State, text: string): never {
  pushError(machine, state, `ERR ${text}`);
  return machine.raise(state);
}

function pushBoolean(machine: LuaMachine, state: State, value: boolean): number {
  machine.api.lua_pushboolean(state, value ? 1 : 0);
  return 1;
}

/** The single string argument; if invalid, pushes an error value. */
function onlyString(machine: LuaMachine, state: State): ByteString | undefined {
  const isOne = machine.api.lua_gettop(state) === 1 && machine.api.lua_type(state, 1) === LUA.STRING;
  if (isOne) return machine.string(state, 1);
  pushError(machine, state, 'ERR wrong number or type of arguments');
  return undefined;
}

function errorReply(machine: LuaMachine, state: State): number {
  const given = onlyString(machine, state);
  if (given === undefined) return 1;
  const text = trimLines(given.startsWith('-') ? given.slice(1) : given);
  pushError(machine, state, text.includes(' ') ? text : `ERR ${text}`);
  return 1;
}

/** The text without surrounding line ends. A regular expression would take quadratic time for many of them. */
function trimLines(text: ByteString): ByteString {
  const isLineEnd = (at: number): boolean => text[at] === '\r' || text[at] === '\n';
  let from = 0;
  let to = text.length;
  while (from < to && isLineEnd(from)) from += 1;
  while (to > from && isLineEnd(to - 1)) to -= 1;
  return text.slice(from, to);
}

function statusReply(machine: LuaMachine, state: State): number {
  const text = onlyString(machine, state);
  if (text === undefined) return 1;
  machine.api.lua_createtable(state, 0, 1);
  machine.push(state, text);
  machine.api.lua_setfield(state, -2, machine.name('ok'));
  return 1;
}

function sha1hex(machine: LuaMachine, state: State): number {
  if (machine.api.lua_gettop(state) !== 1) return raiseText(machine, state, 'wrong number of arguments');
  machine.push(state, sha1(machine.string(state, 1) ?? ''));
  return 1;
}

function setResp(machine: LuaMachine, state: State): number {
  if (machine.api.lua_gettop(state) !== 1) {
    return raiseText(machine, state, 'redis.setresp() requires one argument.');
  }
  const protocol = machine.api.lua_tonumber(state, 1);
  if (protocol !== 2 && protocol !== 3) return raiseText(machine, state, 'RESP version must be 2 or 3.');
  if (machine.run !== undefined) machine.run.protocol = protocol;
  return 0;
}

/** Validates the arguments as Redis does and discards the text: clients must not write to the server's log. */
function log(machine: LuaMachine, state: State): number {
  const { api } = machine;
  if (api.lua_gettop(state) < 2) return raiseText(machine, state, 'redis.log() requires two arguments or more.');
  if (api.lua_isnumber(state, 1) === 0) {
    return raiseText(machine, state, 'First argument must be a number (log level).');
  }
  const level = api.lua_tonumber(state, 1);
  if (!(level >= LOG_LEVELS.LOG_DEBUG && level <= LOG_LEVELS.LOG_WARNING)) {
    return raiseText(machine, state, 'Invalid log level.');
  }
  return 0;
}

/** Effects are journaled in any case. */
function setRepl(machine: LuaMachine, state: State): number {
  if (machine.api.lua_gettop(state) !== 1) return raiseText(machine, state, 'redis.set_repl() requires one argument.');
  const flags = machine.api.lua_tonumber(state, 1);
  if ((flags & ~REPLICATION.REPL_ALL) !== 0) {
    return raiseText(machine, state, 'Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.');
  }
  return 0;
}
