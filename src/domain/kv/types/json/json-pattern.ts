/**
 * Regular expressions of filters (`=~`). Matching takes time linear in the text: all possible states are followed in
 * parallel, without backtracking. They match bytes, anywhere in the text unless anchored.
 *
 * Supported: `.` `[a-z]` `[^…]` `\d \w \s \D \W \S` `\t \n \r` escaped characters, groups, `|`, `*` `+` `?` (greediness
 * does not affect whether a text matches), `^` `$`, `(?i)` at the start. Counted repetitions, back references and
 * lookaround are refused.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';
import { MAX_PATTERN_BYTES } from './json-limits.js';

export interface JsonPattern {
  matches(text: ByteString): boolean;
}

const badPattern = new ErrorReply('ERR regular expression is not valid or not supported');

/** @throws ErrorReply */
export function compilePattern(source: ByteString): JsonPattern {
  if (source.length > MAX_PATTERN_BYTES) throw badPattern;
  const program = new PatternParser(source).program();
  return { matches: (text) => run(program, text) };
}

type Bytes = Uint8Array;

/** A state of the automaton: the bytes it accepts and its successor. `split` has two successors and accepts no byte. */
type State =
  | { kind: 'byte'; bytes: Bytes; next: number }
  | { kind: 'split'; next: number; other: number }
  | { kind: 'begin' | 'end'; next: number }
  | { kind: 'match' };

interface Program {
  readonly states: readonly State[];
  readonly start: number;
}

function run({ states, start }: Program, text: ByteString): boolean {
  let current: number[] = [];
  /** The position at which a state was last added, plus 1, so that it is added once per position. */
  const addedAt = new Uint32Array(states.length);
  const follow = (into: number[], first: number, at: number): boolean => {
    const open = [first];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (addedAt[index] === at + 1) continue;
      addedAt[index] = at + 1;
      const state = states[index] as State;
      if (state.kind === 'match') return true;
      if (state.kind === 'byte') into.push(index);
      else if (state.kind === 'split') open.push(state.other, state.next);
      else if (state.kind === 'begin' ? at === 0 : at === text.length) open.push(state.next);
    }
    return false;
  };
  if (follow(current, start, 0)) return true;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const next: number[] = [];
    for (const index of current) {
      const state = states[index] as State & { kind: 'byte' };
      if (state.bytes[code] === 1 && follow(next, state.next, at + 1)) return true;
    }
    if (follow(next, start, at + 1)) return true;
    current = next;
  }
  return false;
}

/** Builds states from the end to the start: each part gets the index of the state that follows it. */
type Part = (next: number) => number;

class PatternParser {
  readonly #states: State[] = [];
  #at = 0;
  #ignoresCase = false;

  constructor(private readonly source: ByteString) {}

  program(): Program {
    if (this.source.startsWith('(?i)')) {
      this.#ignoresCase = true;
      this.#at = 4;
    }
    const whole = this.#choice();
    if (this.#at < this.source.length) throw badPattern;
    const start = whole(this.#add({ kind: 'match' }));
    return { states: this.#states, start };
  }

  #add(state: State): number {
    this.#states.push(state);
    return this.#states.length - 1;
  }

  #choice(): Part {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.reduceRight(
      (rest, part) => (next) => this.#add({ kind: 'split', next: part(next), other: rest(next) }),
    );
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.source.length && !'|)'.includes(this.#peek())) parts.push(this.#repeated());
    return (next) => parts.reduceRight((behind, part) => part(behind), next);
  }

  #repeated(): Part {
    const part = this.#atom();
    const sign = this.#peek();
    if (sign === '{') throw badPattern;
    if (sign === '' || !'*+?'.includes(sign)) return part;
    this.#at += 1;
    this.#take('?');
    if (this.#peek() !== '' && '*+?{'.includes(this.#peek())) throw badPattern;
    if (sign === '?') return (next) => this.#add({ kind: 'split', next: part(next), other: next });
    return (next) => {
      const split = { kind: 'split', next: 0, other: next } as const;
      const index = this.#add(split);
      const inner = part(index);
      this.#states[index] = { ...split, next: inner };
      return sign === '*' ? index : inner;
    };
  }

  #atom(): Part {
    const character = this.#next();
    switch (character) {
      case '(': {
        if (this.#peek() === '?' && !this.#take('?:')) throw badPattern;
        const inner = this.#choice();
        if (!this.#take(')')) throw badPattern;
        return inner;
      }
      case '^':
        return (next) => this.#add({ kind: 'begin', next });
      case '$':
        return (next) => this.#add({ kind: 'end', next });
      case '.':
        return this.#bytes(inverted(only('\n')));
      case '[':
        return this.#bytes(this.#class());
      case '\\':
        return this.#bytes(this.#escaped());
      case '*':
      case '+':
      case '?':
      case '{':
        throw badPattern;
      default:
        return this.#bytes(only(character));
    }
  }

  #bytes(bytes: Bytes): Part {
    const wide = this.#ignoresCase ? withBothCases(bytes) : bytes;
    return (next) => this.#add({ kind: 'byte', bytes: wide, next });
  }

  #class(): Bytes {
    const isInverted = this.#take('^');
    const bytes = new Uint8Array(256);
    let isFirst = true;
    while (isFirst || this.#peek() !== ']') {
      isFirst = false;
      const character = this.#next();
      const from = character === '\\' ? this.#escaped() : only(character);
      const isSingle = from.indexOf(1) === from.lastIndexOf(1);
      if (isSingle && this.#peek() === '-' && this.source.charAt(this.#at + 1) !== ']') {
        this.#at += 1;
        const end = this.#next();
        const last = end === '\\' ? this.#escaped() : only(end);
        const to = last.indexOf(1);
        if (last.lastIndexOf(1) !== to || to < from.indexOf(1)) throw badPattern;
        for (let code = from.indexOf(1); code <= to; code += 1) bytes[code] = 1;
      } else {
        for (let code = 0; code < 256; code += 1) if (from[code] === 1) bytes[code] = 1;
      }
    }
    this.#at += 1;
    return isInverted ? inverted(bytes) : bytes;
  }

  #escaped(): Bytes {
    const character = this.#next();
    const known = CLASSES.get(character);
    if (known !== undefined) return known;
    const inverse = CLASSES.get(character.toLowerCase());
    if (inverse !== undefined) return inverted(inverse);
    const control = CONTROLS.get(character);
    if (control === undefined && /[A-Za-z0-9]/.test(character)) throw badPattern;
    return only(control ?? character);
  }

  #next(): string {
    const character = this.#peek();
    if (character === '') throw badPattern;
    this.#at += 1;
    return character;
  }

  #peek(): string {
    return this.source.charAt(this.#at);
  }

  #take(text: string): boolean {
    if (!this.source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

function only(characters: string): Bytes {
  const bytes = new Uint8Array(256);
  for (let i = 0; i < characters.length; i += 1) bytes[characters.charCodeAt(i)] = 1;
  return bytes;
}

function inverted(bytes: Bytes): Bytes {
  return bytes.map((byte) => 1 - byte);
}

function withBothCases(bytes: Bytes): Bytes {
  const wide = bytes.slice();
  for (let code = 0x41; code <= 0x5a; code += 1) {
    if (bytes[code] === 1 || bytes[code + 0x20] === 1) wide[code] = wide[code + 0x20] = 1;
  }
  return wide;
}

const DIGITS = '0123456789';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const CLASSES: ReadonlyMap<string, Bytes> = new Map([
  ['d', only(DIGITS)],
  ['w', only(`${DIGITS}${LETTERS}_`)],
  ['s', only(' \t\n\r\f\v')],
]);
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['n', '\n'],
  ['r', '\r'],
]);
