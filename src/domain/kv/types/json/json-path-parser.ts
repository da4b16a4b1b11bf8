/**
 * Parses a path in one pass. The limit on filter terms bounds the depth of nested filters and thereby the parser's
 * recursion.
 *
 * path     = "$" segment*
 * segment  = "." name | "." "*" | ["."] "[" selectors "]" | ".." (name | "*" | "[" selectors "]")
 * selector = "*" | index | [from] ":" [to] [":" [step]] | quoted | "?" filter
 * filter   = and ("||" and)*;  and = unary ("&&" unary)*;  unary = "!" unary | "(" filter ")" | comparison
 * term     = ("@" | "$") segment* | number | quoted | true | false | null
 */
import { isUtf8 } from 'node:buffer';
import { type ByteString, isAscii } from '../../../../kernel/index.js';
import { compilePattern, type Pattern } from '../../pattern.js';
import { ErrorReply } from '../../reply.js';
import { MAX_FILTER_TERMS, MAX_PATH_BYTES, MAX_PATH_SEGMENTS, MAX_PATTERN_BYTES } from './json-limits.js';
import { notUtf8, parseJson } from './json-reader.js';
import type { JsonValue } from './json-value.js';

export type PathSelector =
  | { readonly kind: 'name'; readonly name: ByteString }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly filter: Filter };

/** One step of a path: applies `selectors` to each value, or if recursive also to all values below it. */
export interface PathSegment {
  readonly isRecursive: boolean;
  readonly selectors: readonly PathSelector[];
}

export type Filter =
  | { readonly kind: 'or' | 'and'; readonly parts: readonly Filter[] }
  | { readonly kind: 'not'; readonly part: Filter }
  | { readonly kind: 'test'; readonly term: FilterTerm }
  | {
      readonly kind: 'compare';
      readonly left: FilterTerm;
      readonly operator: CompareOperator;
      readonly right: FilterTerm;
    };

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | '=~';

export type FilterTerm =
  | { readonly kind: 'literal'; readonly value: JsonValue; readonly pattern?: Pattern }
  /** `@…`: from the candidate; `$…`: from the root. */
  | {
      readonly kind: 'path';
      readonly isFromRoot: boolean;
      readonly segments: readonly PathSegment[];
      /** The names and indexes if each step is a single one: such a path is followed directly. */
      readonly steps: readonly (ByteString | number)[] | undefined;
    };

export const pathTooLong = new ErrorReply('ERR path is too long');
export const pathTooDeep = new ErrorReply('ERR path has too many steps');
export const tooManyTerms = new ErrorReply('ERR path has too many filter terms');

const NAME = /[A-Za-z0-9_\-`~+#%$^/:\x80-\xff]+/y;
/** An index has at most 15 digits, so that a number holds it exactly. */
const INTEGER = /-?[0-9]{1,15}/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const OPERATOR = /==|!=|<=|>=|=~|<|>/y;
const WORD = /true|false|null/y;

/** @param isTrusted skips the checks of length and encoding @throws ErrorReply */
export function parsePath(text: ByteString, isTrusted: boolean): readonly PathSegment[] {
  if (!isTrusted) {
    if (text.length > MAX_PATH_BYTES) throw pathTooLong;
    if (!isAscii(text) && !isUtf8(Buffer.from(text, 'latin1'))) throw notUtf8;
  }
  return new PathParser(text).path();
}

class PathParser {
  #at = 0;
  #segments = 0;
  #terms = 0;

  constructor(private readonly text: ByteString) {}

  path(): readonly PathSegment[] {
    this.#at = 1;
    const segments = this.#takeSegments();
    this.#blank();
    if (this.#at < this.text.length) throw this.#error();
    return segments;
  }

  #takeSegments(): readonly PathSegment[] {
    const segments: PathSegment[] = [];
    for (;;) {
      const segment = this.#segment();
      if (segment === undefined) return segments;
      this.#segments += 1;
      if (this.#segments > MAX_PATH_SEGMENTS) throw pathTooDeep;
      segments.push(segment);
    }
  }

  #segment(): PathSegment | undefined {
    const isRecursive = this.#take('..');
    const hasDot = !isRecursive && this.#take('.');
    if (this.#take('[')) {
      const selectors = this.#selectors();
      return { isRecursive, selectors };
    }
    if (!isRecursive && !hasDot) return undefined;
    if (this.#take('*')) return { isRecursive, selectors: [{ kind: 'all' }] };
    const name = this.#match(NAME);
    if (name === undefined) throw this.#error();
    return { isRecursive, selectors: [{ kind: 'name', name }] };
  }

  #selectors(): PathSelector[] {
    const selectors: PathSelector[] = [];
    do {
      this.#blank();
      selectors.push(this.#selector());
      this.#blank();
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#error();
    return selectors;
  }

  #selector(): PathSelector {
    if (this.#take('*')) return { kind: 'all' };
    if (this.#take('?')) return { kind: 'filter', filter: this.#filter() };
    const name = this.#quoted();
    if (name !== undefined) return { kind: 'name', name };
    const from = this.#integer();
    this.#blank();
    if (!this.#take(':')) {
      if (from === undefined) throw this.#error();
      return { kind: 'index', index: from };
    }
    this.#blank();
    const to = this.#integer();
    this.#blank();
    let step: number | undefined;
    if (this.#take(':')) {
      this.#blank();
      step = this.#integer();
      if (step !== undefined && step < 1) throw this.#error();
    }
    return { kind: 'slice', from, to, step: step ?? 1 };
  }

  #filter(): Filter {
    return this.#chain('||', 'or', () => this.#chain('&&', 'and', () => this.#unary()));
  }

  #chain(between: string, kind: 'or' | 'and', part: () => Filter): Filter {
    const parts = [part()];
    for (this.#blank(); this.#take(between); this.#blank()) parts.push(part());
    return parts.length === 1 ? (parts[0] as Filter) : { kind, parts };
  }

  #unary(): Filter {
    this.#terms += 1;
    if (this.#terms > MAX_FILTER_TERMS) throw tooManyTerms;
    this.#blank();
    if (this.#take('!')) return { kind: 'not', part: this.#unary() };
    if (this.#take('(')) {
      const inner = this.#filter();
      this.#blank();
      if (!this.#take(')')) throw this.#error();
      return inner;
    }
    const left = this.#term();
    this.#blank();
    const operator = this.#match(OPERATOR) as CompareOperator | undefined;
    if (operator === undefined) return { kind: 'test', term: left };
    this.#blank();
    const right = this.#term();
    if (operator !== '=~' || right.kind === 'path') return { kind: 'compare', left, operator, right };
    if (typeof right.value !== 'string') throw this.#error();
    return {
      kind: 'compare',
      left,
      operator,
      right: { ...right, pattern: compilePattern(right.value, MAX_PATTERN_BYTES) },
    };
  }

  #term(): FilterTerm {
    if (this.#take('@')) return this.#pathTerm(false);
    if (this.#take('$')) return this.#pathTerm(true);
    const string = this.#quoted();
    if (string !== undefined) return { kind: 'literal', value: string };
    const literal = this.#match(WORD) ?? this.#match(NUMBER);
    if (literal === undefined) throw this.#error();
    return { kind: 'literal', value: parseJson(literal).value };
  }

  #pathTerm(isFromRoot: boolean): FilterTerm {
    const segments = this.#takeSegments();
    return { kind: 'path', isFromRoot, segments, steps: staticSteps(segments) };
  }

  #quoted(): ByteString | undefined {
    const quote = this.text.charAt(this.#at);
    if (quote !== '"' && quote !== "'") return undefined;
    let value = '';
    let from = this.#at + 1;
    for (let at = from; at < this.text.length; at += 1) {
      const character = this.text.charAt(at);
      if (character === quote) {
        this.#at = at + 1;
        return value + this.text.slice(from, at);
      }
      if (character !== '\\') continue;
      value += this.text.slice(from, at);
      at += 1;
      // Only quotes and backslashes can be escaped; a backslash before another character is kept, because regular
      // expressions contain them.
      const escaped = this.text.charAt(at);
      from = escaped === '\\' || escaped === '"' || escaped === "'" ? at : at - 1;
    }
    throw this.#error();
  }

  #integer(): number | undefined {
    const digits = this.#match(INTEGER);
    if (digits === undefined) return undefined;
    if (/[0-9]/.test(this.text.charAt(this.#at))) throw this.#error();
    return Number(digits);
  }

  #match(pattern: RegExp): ByteString | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match[0];
  }

  #take(text: string): boolean {
    if (!this.text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #blank(): void {
    while (this.text.charAt(this.#at) === ' ') this.#at += 1;
  }

  #error(): ErrorReply {
    return new ErrorReply(`ERR Error occurred on position ${this.#at + 1}, path is not valid`);
  }
}

/** The names and indexes of a path in which each step is a single name or index; otherwise undefined. */
export function staticSteps(segments: readonly PathSegment[]): (ByteString | number)[] | undefined {
  const steps: (ByteString | number)[] = [];
  for (const { isRecursive, selectors } of segments) {
    const selector = selectors.length === 1 && !isRecursive ? selectors[0] : undefined;
    if (selector?.kind === 'name') steps.push(selector.name);
    else if (selector?.kind === 'index') steps.push(selector.index);
    else return undefined;
  }
  return steps;
}
