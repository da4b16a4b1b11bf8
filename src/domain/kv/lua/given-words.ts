/**
 * Pushes the inputs of a run on its stack: the function, a table of keys and a table of arguments; in slices if there
 * are many.
 */
import type { ByteString } from '../../../kernel/index.js';
import { MANY_WORDS, SlicePace } from '../slices.js';
import { BYTES_A_LOOKUP, workOf } from '../steps.js';
import { REGISTRY_INDEX } from './lua-api.js';
import { LONG_STRING_BYTES } from './lua-limits.js';
import type { LuaMachine } from './machine.js';

/** The index of the first key: `EVAL script numkeys …`, `FCALL name numkeys …`. */
const WORDS_AT = 3;

export interface Given {
  /** Registry reference of the function. */
  readonly callback: number;
  /** The words of the command: after `numkeys`, `keyCount` keys and then the arguments. */
  readonly words: readonly ByteString[];
  readonly keyCount: number;
}

/** Whether pushing the words needs slices. */
export function areMany({ words }: Given): boolean {
  // With very many words even adding up their lengths would take too long.
  return words.length > MANY_WORDS || workOf(words) > MANY_WORDS;
}

export function pushGiven(machine: LuaMachine, { callback, words, keyCount }: Given): void {
  machine.api.lua_rawgeti(machine.slices.freshThread(), REGISTRY_INDEX, callback);
  pushWords(machine, words, WORDS_AT, WORDS_AT + keyCount);
  pushWords(machine, words, WORDS_AT + keyCount, words.length);
}

export function* givenInSlices(machine: LuaMachine, { callback, words, keyCount }: Given): Generator<void, void> {
  machine.api.lua_rawgeti(machine.slices.freshThread(), REGISTRY_INDEX, callback);
  const pace = new SlicePace();
  yield* wordsInSlices(machine, words, WORDS_AT, WORDS_AT + keyCount, pace);
  yield* wordsInSlices(machine, words, WORDS_AT + keyCount, words.length, pace);
}

function pushWords(machine: LuaMachine, words: readonly ByteString[], from: number, to: number): void {
  machine.api.lua_createtable(machine.slices.thread, to - from, 0);
  for (let i = from; i < to; i += 1) setWord(machine, words[i] as ByteString, i - from + 1);
}

function* wordsInSlices(
  machine: LuaMachine,
  words: readonly ByteString[],
  from: number,
  to: number,
  pace: SlicePace,
): Generator<void, void> {
  machine.api.lua_createtable(machine.slices.thread, to - from, 0);
  for (let i = from; i < to; i += 1) {
    const word = words[i] as ByteString;
    if (word.length <= LONG_STRING_BYTES) setWord(machine, word, i - from + 1);
    else {
      yield* machine.pushInSlices(machine.slices.thread, word);
      machine.api.lua_rawseti(machine.slices.thread, -2, i - from + 1);
    }
    if (pace.isDue(1 + word.length / BYTES_A_LOOKUP)) yield;
  }
}

/** Sets an item of the table on top of the stack. */
function setWord(machine: LuaMachine, word: ByteString, at: number): void {
  machine.push(machine.slices.thread, word);
  machine.api.lua_rawseti(machine.slices.thread, -2, at);
}
