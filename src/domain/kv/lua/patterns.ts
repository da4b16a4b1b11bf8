/** `string.find`, `match`, `gmatch` and `gsub` for scripts, based on `PatternMatch`. */
import type { ByteString } from '../../../kernel/index.js';
import { GLOBALS_INDEX, LUA, type State } from './lua-api.js';
import { MAX_HEAP_BYTES } from './lua-limits.js';
import type { HostFunction, LuaMachine } from './machine.js';
import { CAPTURE_OPEN, CAPTURE_POSITION, type Capture, PatternError, PatternMatch } from './pattern-match.js';

const SPECIALS = /[\^$*+?.([%-]/;
const CARET = 0x5e;

interface Span {
  readonly at: number;
  readonly length: number;
}

/** Replacements for Lua's `string` functions. */
export const PATTERN_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ['find', (machine, state) => search(machine, state, true)],
  ['match', (machine, state) => search(machine, state, false)],
  ['gmatch', gmatch],
  ['gfind', gmatch],
  ['gsub', gsub],
]);

export const PATTERN_HELPERS: readonly HostFunction[] = [nextMatch];

function search(machine: LuaMachine, state: State, isFind: boolean): number {
  const { api } = machine;
  machine.slices.checkMeter();
  const source = machine.checkedSpan(state, 1);
  const pattern = machine.checkedSpan(state, 2);
  const start = startOffset(Math.trunc(api.luaL_optnumber(state, 3, 1)), source.length);
  if (isFind && (api.lua_toboolean(state, 4) === 1 || !SPECIALS.test(textAt(machine, pattern)))) {
    return plainFind(machine, state, source, pattern, start);
  }
  const isAnchored = pattern.length > 0 && machine.heap[pattern.at] === CARET;
  const patternAt = pattern.at + (isAnchored ? 1 : 0);
  const match = matcher(machine, source, pattern);
  for (let s = source.at + start; s <= source.at + source.length; s += 1) {
    const end = matchFrom(machine, state, match, s, patternAt);
    if (end !== -1) {
      if (!isFind) return pushCaptures(machine, state, match, true);
      api.lua_pushnumber(state, s - source.at + 1);
      api.lua_pushnumber(state, end - source.at);
      return 2 + pushCaptures(machine, state, match, false);
    }
    if (isAnchored) break;
  }
  api.lua_pushnil(state);
  return 1;
}

function plainFind(machine: LuaMachine, state: State, source: Span, pattern: Span, start: number): number {
  const { api, heap } = machine;
  const within = heap.subarray(source.at, source.at + source.length);
  const at = within.indexOf(heap.subarray(pattern.at, pattern.at + pattern.length), start);
  if (at === -1) {
    api.lua_pushnil(state);
    return 1;
  }
  api.lua_pushnumber(state, at + 1);
  api.lua_pushnumber(state, at + pattern.length);
  return 2;
}

/** The iterator's upvalues: source, pattern, offset of the next attempt. */
function gmatch(machine: LuaMachine, state: State): number {
  machine.checkedSpan(state, 1);
  machine.checkedSpan(state, 2);
  machine.api.lua_settop(state, 2);
  machine.api.lua_pushnumber(state, 0);
  machine.pushFunction(state, nextMatch, 3);
  return 1;
}

function nextMatch(machine: LuaMachine, state: State): number {
  const { api } = machine;
  machine.slices.checkMeter();
  const source = machine.checkedSpan(state, GLOBALS_INDEX - 1);
  const pattern = machine.checkedSpan(state, GLOBALS_INDEX - 2);
  const match = matcher(machine, source, pattern);
  for (let s = source.at + api.lua_tonumber(state, GLOBALS_INDEX - 3); s <= source.at + source.length; s += 1) {
    const end = matchFrom(machine, state, match, s, pattern.at);
    if (end === -1) continue;
    api.lua_pushnumber(state, end - source.at + (end === s ? 1 : 0));
    api.lua_replace(state, GLOBALS_INDEX - 3);
    return pushCaptures(machine, state, match, true);
  }
  return 0;
}

function gsub(machine: LuaMachine, state: State): number {
  const { api } = machine;
  machine.slices.checkMeter();
  const source = machine.checkedSpan(state, 1);
  const pattern = machine.checkedSpan(state, 2);
  const type = api.lua_type(state, 3);
  if (type !== LUA.NUMBER && type !== LUA.STRING && type !== LUA.TABLE && type !== LUA.FUNCTION) {
    return machine.failArgument(state, 3, 'string/function/table expected');
  }
  const most = Math.trunc(api.luaL_optnumber(state, 4, source.length + 1)) | 0;
  const isAnchored = pattern.length > 0 && machine.heap[pattern.at] === CARET;
  const patternAt = pattern.at + (isAnchored ? 1 : 0);
  const template = type === LUA.NUMBER || type === LUA.STRING ? (machine.string(state, 3) as ByteString) : '';
  const sourceEnd = source.at + source.length;
  const pieces: ByteString[] = [];
  let bytes = 0;
  let count = 0;
  let s = source.at;
  let kept = s;
  const add = (piece: ByteString): void => {
    bytes += piece.length;
    if (bytes > MAX_HEAP_BYTES) machine.refuseMemory();
    pieces.push(piece);
  };
  const flush = (until: number): void => {
    if (until > kept) add(machine.heap.toString('latin1', kept, until));
  };
  let match = matcher(machine, source, pattern);
  while (count < most) {
    const end = matchFrom(machine, state, match, s, patternAt);
    if (end !== -1) {
      count += 1;
      flush(s);
      add(
        type === LUA.TABLE || type === LUA.FUNCTION
          ? called(machine, state, match, type)
          : expanded(machine, state, match, template),
      );
      kept = end;
      // The called function may have grown the heap.
      if (type === LUA.TABLE || type === LUA.FUNCTION) match = matcher(machine, source, pattern);
    }
    if (end !== -1 && end > s) s = end;
    else if (s < sourceEnd) s += 1;
    else break;
    if (isAnchored) break;
  }
  flush(sourceEnd);
  machine.push(state, pieces.join(''));
  api.lua_pushnumber(state, count);
  return 2;
}

/** The replacement given by a table or function; false and nil keep the original text. */
function called(machine: LuaMachine, state: State, match: PatternMatch, type: number): ByteString {
  const { api } = machine;
  const original = machine.heap.toString('latin1', match.start, match.end);
  if (type === LUA.TABLE) {
    pushCapture(machine, state, match, 0);
    api.lua_gettable(state, 3);
  } else {
    api.lua_pushvalue(state, 3);
    api.lua_call(state, pushCaptures(machine, state, match, true), 1);
  }
  if (api.lua_toboolean(state, -1) === 0) {
    machine.pop(state);
    return original;
  }
  const type2 = api.lua_type(state, -1);
  if (type2 !== LUA.STRING && type2 !== LUA.NUMBER) {
    return machine.fail(state, `invalid replacement value (a ${machine.typeName(state, -1)})`);
  }
  const text = machine.string(state, -1) as ByteString;
  machine.pop(state);
  return text;
}

/** `%0` … `%9` in the replacement are captures; `%` before another character gives that character. */
function expanded(machine: LuaMachine, state: State, match: PatternMatch, template: ByteString): ByteString {
  if (!template.includes('%')) return template;
  let text = '';
  for (let i = 0; i < template.length; i += 1) {
    const letter = template[i] as string;
    if (letter !== '%') {
      text += letter;
      continue;
    }
    i += 1;
    const escaped = template[i] ?? '\0';
    if (escaped < '0' || escaped > '9') text += escaped;
    else if (escaped === '0') text += machine.heap.toString('latin1', match.start, match.end);
    else {
      pushCapture(machine, state, match, Number(escaped) - 1);
      text += machine.string(state, -1) as ByteString;
      machine.pop(state);
    }
  }
  return text;
}

function pushCaptures(machine: LuaMachine, state: State, match: PatternMatch, orWhole: boolean): number {
  const count = match.captures.length === 0 && orWhole ? 1 : match.captures.length;
  machine.api.lua_checkstack(state, count);
  // Pushing may grow the heap, but addresses in it stay valid.
  for (let i = 0; i < count; i += 1) pushCapture(machine, state, match, i);
  return count;
}

function pushCapture(machine: LuaMachine, state: State, match: PatternMatch, index: number): void {
  const { api } = machine;
  const capture: Capture | undefined = match.captures[index];
  if (capture === undefined) {
    if (index > 0) machine.fail(state, 'invalid capture index');
    api.lua_pushlstring(state, match.start, match.end - match.start);
    return;
  }
  if (capture.length === CAPTURE_OPEN) machine.fail(state, 'unfinished capture');
  if (capture.length === CAPTURE_POSITION) api.lua_pushnumber(state, capture.start - match.sourceAt + 1);
  else api.lua_pushlstring(state, capture.start, capture.length);
}

function matcher(machine: LuaMachine, source: Span, pattern: Span): PatternMatch {
  return new PatternMatch(machine.heap, source.at, source.at + source.length, pattern.at + pattern.length, () =>
    machine.slices.checkMeter(),
  );
}

/** The end of a match that starts at `s`, or -1; an error of the pattern is the script's. */
function matchFrom(machine: LuaMachine, state: State, match: PatternMatch, s: number, patternAt: number): number {
  try {
    return match.from(s, patternAt);
  } catch (problem) {
    if (problem instanceof PatternError) return machine.fail(state, problem.message);
    throw problem;
  }
}

function startOffset(init: number, length: number): number {
  const from = init < 0 ? Math.max(0, length + init) : Math.max(0, init - 1);
  return Math.min(from, length);
}

function textAt(machine: LuaMachine, span: Span): ByteString {
  return machine.heap.toString('latin1', span.at, span.at + span.length);
}
