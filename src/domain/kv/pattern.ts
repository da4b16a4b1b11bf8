/**
 * Regular expressions of JSON filters (`=~`) and of ARGREP. Matching takes time linear in the text: all possible states
 * are followed in parallel, without backtracking. They match bytes, anywhere in the text unless anchored.
 *
 * Supported: `.` `[a-z]` `[^…]` `[[:digit:]]` `\d \w \s \D \W \S` `\t \n \r` escaped characters, groups, `|`, `*` `+` `?`
 * `{2}` `{2,}` `{2,5}` (greediness does not affect whether a text matches), `^` `$`, `(?i)` at the start. Back references
 * and lookaround are refused.
 */
import type { ByteString } from '../../kernel/index.js';
import { ErrorReply } from './reply.js';
import { inOneStep, type Steps } from './steps.js';

export interface Pattern {
  matches(text: ByteString): boolean;
  /** As `matches`, in slices: a long text with a long pattern takes seconds. */
  matchesInSteps(text: ByteString): Steps<boolean>;
}

/** The longest `{100,200}` and `[:xdigit:]`. */
const MAX_COUNT_BYTES = 9;
const MAX_NAME_BYTES = 10;
const MAX_REPETITIONS = 255;
/** Visited states between two pauses: about half a millisecond. */
const SLICE_STATES = 20_000;

const badPattern = new ErrorReply('ERR regular expression is not valid or not supported');

/**
 * @param maxBytes also bounds the states: repetitions multiply them, and each byte of a text may visit all of them
 * @throws ErrorReply
 */
export function compilePattern(source: ByteString, maxBytes: number): Pattern {
  if (source.length > maxBytes) throw badPattern;
  const program = new PatternParser(source, maxBytes + 1).program();
  return { matches: (text) => inOneStep(run(program, text)), matchesInSteps: (text) => run(program, text) };
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

function* run({ states, start }: Program, text: ByteString): Steps<boolean> {
  let visited = 0;
  let current: number[] = [];
  /** The position at which a state was last added, plus 1, so that it is added once per position. */
  const addedAt = new Uint32Array(states.length);
  const follow = (into: number[], first: number, at: number): boolean => {
    const open = [first];
    visited += 1;
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
    visited += 1;
    if (visited >= SLICE_STATES) {
      visited = 0;
      yield;
    }
  }
  return false;
}

/** Builds states from the end to the start: each part gets the index of the state that follows it. */
type Part = (next: number) => number;

class PatternParser {
  readonly #states: State[] = [];
  #at = 0;
  #ignoresCase = false;

  constructor(
    private readonly source: ByteString,
    private readonly maxStates: number,
  ) {}

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
    if (this.#states.length >= this.maxStates) throw badPattern;
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
    if (sign === '{') return this.#counted(part);
    if (sign === '' || !'*+?'.includes(sign)) return part;
    this.#at += 1;
    this.#take('?');
    if (this.#peek() !== '' && '*+?{'.includes(this.#peek())) throw badPattern;
    if (sign === '?') return this.#optional(part);
    return this.#endless(part, sign === '*');
  }

  #optional(part: Part): Part {
    return (next) => this.#add({ kind: 'split', next: part(next), other: next });
  }

  #endless(part: Part, mayBeMissing: boolean): Part {
    return (next) => {
      const split = { kind: 'split', next: 0, other: next } as const;
      const index = this.#add(split);
      const inner = part(index);
      this.#states[index] = { ...split, next: inner };
      return mayBeMissing ? index : inner;
    };
  }

  /** `{2}`, `{2,}`, `{2,5}`: the part is built once for each repetition. */
  #counted(part: Part): Part {
    const [written, leastText = '', comma = '', mostText = ''] =
      /^\{([0-9]{1,3})(,?)([0-9]{0,3})\}/.exec(this.source.slice(this.#at, this.#at + MAX_COUNT_BYTES)) ?? [];
    if (written === undefined || (comma === '' && mostText !== '')) throw badPattern;
    this.#at += written.length;
    this.#take('?');
    if (this.#peek() !== '' && '*+?{'.includes(this.#peek())) throw badPattern;
    const least = Number(leastText);
    const most = comma === '' ? least : Number(mostText || leastText);
    if (most < least || most > MAX_REPETITIONS) throw badPattern;
    const parts: Part[] = new Array(least).fill(part);
    if (comma !== '' && mostText === '') parts.push(this.#endless(part, true));
    else for (let i = least; i < most; i += 1) parts.push(this.#optional(part));
    return (next) => parts.reduceRight((after, one) => one(after), next);
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
      const named = this.#namedClass();
      if (named !== undefined) {
        for (let code = 0; code < 256; code += 1) if (named[code] === 1) bytes[code] = 1;
        continue;
      }
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

  /** `[:digit:]` within a class. */
  #namedClass(): Bytes | undefined {
    const [written, name = ''] =
      /^\[:([a-z]{1,6}):\]/.exec(this.source.slice(this.#at, this.#at + MAX_NAME_BYTES)) ?? [];
    if (written === undefined) return undefined;
    const bytes = NAMED_CLASSES.get(name);
    if (bytes === undefined) throw badPattern;
    this.#at += written.length;
    return bytes;
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
const NAMED_CLASSES: ReadonlyMap<string, Bytes> = new Map([
  ['alpha', only(LETTERS)],
  ['digit', only(DIGITS)],
  ['alnum', only(`${DIGITS}${LETTERS}`)],
  ['upper', only(LETTERS.slice(26))],
  ['lower', only(LETTERS.slice(0, 26))],
  ['space', only(' \t\n\r\f\v')],
  ['blank', only(' \t')],
  ['punct', only(`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`)],
  ['xdigit', only(`${DIGITS}abcdefABCDEF`)],
]);
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['n', '\n'],
  ['r', '\r'],
]);
