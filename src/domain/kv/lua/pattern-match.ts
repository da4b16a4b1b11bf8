/**
 * Lua 5.1's pattern matching, on bytes in the machine's heap. Reimplemented because a pattern can take exponential
 * time, and the binary's implementation could be neither counted nor stopped.
 */
import { MATCH_STEPS_A_LOOK, MAX_MATCH_DEPTH } from './lua-limits.js';

const CAPTURE_OPEN = -1;
const CAPTURE_POSITION = -2;
/** Lua's LUA_MAXCAPTURES. */
const MAX_CAPTURES = 32;

const ESCAPE = 0x25; // %
const CARET = 0x5e;
const DOLLAR = 0x24;
const OPEN = 0x28;
const CLOSE = 0x29;
const DOT = 0x2e;
const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const STAR = 0x2a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const OPTIONAL = 0x3f;
const BALANCE = 0x62; // b
const FRONTIER = 0x66; // f

/** A malformed pattern, with Lua's message. */
export class PatternError extends Error {}

export interface Capture {
  start: number;
  /** A length, or one of the marks above. */
  length: number;
}

export class PatternMatch {
  readonly captures: Capture[] = [];
  /** Where the latest match starts and ends. */
  start = 0;
  end = -1;
  #steps = 0;
  #depth = 0;

  constructor(
    private readonly heap: Uint8Array,
    readonly sourceAt: number,
    readonly sourceEnd: number,
    private readonly patternEnd: number,
    private readonly look: () => void,
  ) {}

  /** The end of a match that starts at `s`, or -1. @throws PatternError */
  from(s: number, p: number): number {
    this.captures.length = 0;
    this.start = s;
    this.end = this.#match(s, p);
    return this.end;
  }

  #match(from: number, patternFrom: number): number {
    this.#depth += 1;
    if (this.#depth > MAX_MATCH_DEPTH) throw new PatternError('pattern too complex');
    const end = this.#matchItems(from, patternFrom);
    this.#depth -= 1;
    return end;
  }

  #matchItems(from: number, patternFrom: number): number {
    const { heap, sourceEnd, patternEnd } = this;
    let s = from;
    let p = patternFrom;
    for (;;) {
      this.#step();
      if (p >= patternEnd) return s;
      const byte = heap[p] as number;
      if (byte === OPEN) {
        return this.#at(p + 1) === CLOSE
          ? this.#startCapture(s, p + 2, CAPTURE_POSITION)
          : this.#startCapture(s, p + 1, CAPTURE_OPEN);
      }
      if (byte === CLOSE) return this.#endCapture(s, p + 1);
      if (byte === DOLLAR && p + 1 === patternEnd) return s === sourceEnd ? s : -1;
      if (byte === ESCAPE) {
        const next = this.#at(p + 1);
        if (next === BALANCE) {
          s = this.#balance(s, p + 2);
          if (s === -1) return -1;
          p += 4;
          continue;
        }
        if (next === FRONTIER) {
          p = this.#frontierEnd(s, p + 2);
          if (p === -1) return -1;
          continue;
        }
        if (next !== undefined && next >= 0x30 && next <= 0x39) {
          s = this.#sameAsCapture(s, next);
          if (s === -1) return -1;
          p += 2;
          continue;
        }
      }
      const itemEnd = this.#itemEnd(p);
      const isHere = s < sourceEnd && this.#isItem(heap[s] as number, p, itemEnd);
      const suffix = this.#at(itemEnd);
      if (suffix === OPTIONAL) {
        if (isHere) {
          const end = this.#match(s + 1, itemEnd + 1);
          if (end !== -1) return end;
        }
        p = itemEnd + 1;
      } else if (suffix === STAR) {
        return this.#longest(s, p, itemEnd);
      } else if (suffix === PLUS) {
        return isHere ? this.#longest(s + 1, p, itemEnd) : -1;
      } else if (suffix === MINUS) {
        return this.#shortest(s, p, itemEnd);
      } else {
        if (!isHere) return -1;
        s += 1;
        p = itemEnd;
      }
    }
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps < MATCH_STEPS_A_LOOK) return;
    this.#steps = 0;
    this.look();
  }

  #at(p: number): number | undefined {
    return p < this.patternEnd ? this.heap[p] : undefined;
  }

  #longest(s: number, p: number, itemEnd: number): number {
    let count = 0;
    while (s + count < this.sourceEnd && this.#isItem(this.heap[s + count] as number, p, itemEnd)) {
      this.#step();
      count += 1;
    }
    for (; count >= 0; count -= 1) {
      const end = this.#match(s + count, itemEnd + 1);
      if (end !== -1) return end;
    }
    return -1;
  }

  #shortest(from: number, p: number, itemEnd: number): number {
    for (let s = from; ; s += 1) {
      const end = this.#match(s, itemEnd + 1);
      if (end !== -1) return end;
      if (s >= this.sourceEnd || !this.#isItem(this.heap[s] as number, p, itemEnd)) return -1;
    }
  }

  #startCapture(s: number, p: number, length: number): number {
    if (this.captures.length >= MAX_CAPTURES) throw new PatternError('too many captures');
    this.captures.push({ start: s, length });
    const end = this.#match(s, p);
    if (end === -1) this.captures.pop();
    return end;
  }

  #endCapture(s: number, p: number): number {
    const open = this.captures.findLast((capture) => capture.length === CAPTURE_OPEN);
    if (open === undefined) throw new PatternError('invalid pattern capture');
    open.length = s - open.start;
    const end = this.#match(s, p);
    if (end === -1) open.length = CAPTURE_OPEN;
    return end;
  }

  #sameAsCapture(s: number, digit: number): number {
    const capture = this.captures[digit - 0x31];
    if (capture === undefined || capture.length === CAPTURE_OPEN) throw new PatternError('invalid capture index');
    const length = Math.max(0, capture.length);
    if (this.sourceEnd - s < length) return -1;
    for (let i = 0; i < length; i += 1) {
      this.#step();
      if (this.heap[capture.start + i] !== this.heap[s + i]) return -1;
    }
    return s + length;
  }

  #balance(s: number, p: number): number {
    const opening = this.#at(p);
    const closing = this.#at(p + 1);
    if (opening === undefined || closing === undefined) throw new PatternError('unbalanced pattern');
    if (s >= this.sourceEnd || this.heap[s] !== opening) return -1;
    let open = 1;
    for (let i = s + 1; i < this.sourceEnd; i += 1) {
      this.#step();
      const byte = this.heap[i];
      if (byte === closing) {
        open -= 1;
        if (open === 0) return i + 1;
      } else if (byte === opening) {
        open += 1;
      }
    }
    return -1;
  }

  /** For `%f`: the position after the set at `p` if `s` is a boundary into the set; otherwise -1. */
  #frontierEnd(s: number, p: number): number {
    if (this.#at(p) !== BRACKET) throw new PatternError("missing '[' after '%f' in pattern");
    const setEnd = this.#itemEnd(p);
    const before = s === this.sourceAt ? 0 : (this.heap[s - 1] as number);
    const here = s < this.sourceEnd ? (this.heap[s] as number) : 0;
    return !this.#isInSet(before, p, setEnd - 1) && this.#isInSet(here, p, setEnd - 1) ? setEnd : -1;
  }

  /** The position after the item (a byte, class or set) at `p`. */
  #itemEnd(p: number): number {
    const byte = this.heap[p];
    if (byte === ESCAPE) {
      if (p + 1 >= this.patternEnd) throw new PatternError("malformed pattern (ends with '%')");
      return p + 2;
    }
    if (byte !== BRACKET) return p + 1;
    let end = p + 1;
    if (this.#at(end) === CARET) end += 1;
    do {
      if (end >= this.patternEnd) throw new PatternError("malformed pattern (missing ']')");
      const inside = this.heap[end];
      end += inside === ESCAPE && end + 1 < this.patternEnd ? 2 : 1;
    } while (this.#at(end) !== CLOSING_BRACKET);
    return end + 1;
  }

  #isItem(byte: number, p: number, itemEnd: number): boolean {
    const item = this.heap[p] as number;
    if (item === DOT) return true;
    if (item === ESCAPE) return isInClass(byte, this.heap[p + 1] as number);
    if (item === BRACKET) return this.#isInSet(byte, p, itemEnd - 1);
    return item === byte;
  }

  /** @param closing position of the set's closing bracket */
  #isInSet(byte: number, p: number, closing: number): boolean {
    const { heap } = this;
    let at = p + 1;
    const isMember = heap[at] !== CARET;
    if (!isMember) at += 1;
    while (at < closing) {
      this.#step();
      const item = heap[at] as number;
      if (item === ESCAPE) {
        if (isInClass(byte, heap[at + 1] as number)) return isMember;
        at += 2;
      } else if (heap[at + 1] === MINUS && at + 2 < closing) {
        if (item <= byte && byte <= (heap[at + 2] as number)) return isMember;
        at += 3;
      } else {
        if (item === byte) return isMember;
        at += 1;
      }
    }
    return !isMember;
  }
}

/** `%a`, `%d` … in the C locale; upper case is the complement; any other letter is the byte itself. */
function isInClass(byte: number, letter: number): boolean {
  const lower = letter | 0x20;
  const test = letter >= 0x41 && letter <= 0x7a ? CLASSES[String.fromCharCode(lower)] : undefined;
  if (test === undefined || (letter > 0x5a && letter < 0x61)) return letter === byte;
  return test(byte) === (letter === lower);
}

const isLetter = (c: number): boolean => (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a);
const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;

const CLASSES: Readonly<Record<string, (byte: number) => boolean>> = {
  a: isLetter,
  c: (c) => c < 0x20 || c === 0x7f,
  d: isDigit,
  l: (c) => c >= 0x61 && c <= 0x7a,
  p: (c) => c > 0x20 && c < 0x7f && !isLetter(c) && !isDigit(c),
  s: (c) => c === 0x20 || (c >= 0x09 && c <= 0x0d),
  u: (c) => c >= 0x41 && c <= 0x5a,
  w: (c) => isLetter(c) || isDigit(c),
  x: (c) => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66),
  z: (c) => c === 0,
};

export { CAPTURE_OPEN, CAPTURE_POSITION };
