/**
 * Parses a filter into a tree:
 *     filter     = disjunct { OR disjunct }
 *     disjunct   = term { AND term }
 *     term       = "(" filter ")" | HAS [NOT] FIELD path | path operator …
 *
 *  FP1 keywords ignore case, and are only keywords at their place: a field may be called `in`
 *  FP2 depth, comparisons, patterns and values are bounded: no text makes the parser or the predicate run for long
 */
import { compileFilterGlob } from './filter-glob.js';
import { type FilterSign, type FilterToken, filterProblem, filterTokens } from './filter-tokens.js';
import {
  type FilterLiteral,
  type FilterNode,
  type FilterPath,
  ORDER_OPERATORS,
  type OrderOperator,
} from './filter-tree.js';
import {
  MAX_FILTER_CHARACTERS,
  MAX_FILTER_COMPARISONS,
  MAX_FILTER_DEPTH,
  MAX_FILTER_PATH_STEPS,
  MAX_FILTER_PATTERN_CHARACTERS,
  MAX_FILTER_VALUES,
} from './limits.js';

/** @throws INVALID with the number of the character, counted from 1 */
export function parseFilter(filter: string): FilterNode {
  if (filter.length > MAX_FILTER_CHARACTERS) {
    throw filterProblem(MAX_FILTER_CHARACTERS, `a filter has at most ${MAX_FILTER_CHARACTERS} characters`);
  }
  return new FilterParser(filterTokens(filter)).whole();
}

class FilterParser {
  #next = 0;
  #depth = 0;
  #comparisons = 0;
  #patternCharacters = 0;

  constructor(private readonly tokens: readonly FilterToken[]) {}

  whole(): FilterNode {
    const node = this.#filter();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw unexpected(rest, 'AND, OR or the end');
    return node;
  }

  #filter(): FilterNode {
    const parts = [this.#disjunct()];
    while (this.#takeWord('OR')) parts.push(this.#disjunct());
    return parts.length === 1 ? (parts[0] as FilterNode) : { kind: 'or', parts };
  }

  #disjunct(): FilterNode {
    const parts = [this.#term()];
    while (this.#takeWord('AND')) parts.push(this.#term());
    return parts.length === 1 ? (parts[0] as FilterNode) : { kind: 'and', parts };
  }

  #term(): FilterNode {
    const token = this.#peek();
    if (isSign(token, '(')) return this.#group(token.at);
    this.#comparisons += 1;
    if (this.#comparisons > MAX_FILTER_COMPARISONS) {
      throw filterProblem(token.at, `a filter has at most ${MAX_FILTER_COMPARISONS} comparisons`);
    }
    const second = this.#peek(1);
    if (isWord(token, 'HAS') && (isWord(second, 'FIELD') || isWord(second, 'NOT'))) return this.#presence();
    return this.#comparison();
  }

  #group(at: number): FilterNode {
    this.#depth += 1;
    if (this.#depth > MAX_FILTER_DEPTH) {
      throw filterProblem(at, `parentheses may be nested ${MAX_FILTER_DEPTH} levels deep`);
    }
    this.#next += 1;
    const node = this.#filter();
    this.#takeSign(')', 'AND, OR or ")"');
    this.#depth -= 1;
    return node;
  }

  #presence(): FilterNode {
    this.#next += 1;
    const isNegated = this.#takeWord('NOT');
    if (!this.#takeWord('FIELD')) throw unexpected(this.#peek(), 'FIELD');
    return { kind: 'has', path: this.#path(), isNegated };
  }

  #comparison(): FilterNode {
    const path = this.#path();
    const isNegated = this.#takeWord('NOT');
    const operator = this.#take();
    if (isWord(operator, 'GLOB')) return { kind: 'glob', path, pattern: this.#pattern(), isNegated };
    if (isWord(operator, 'IN')) return { kind: 'in', path, values: this.#values(), isNegated };
    if (isWord(operator, 'CONTAINS')) return { kind: 'contains', path, value: this.#literal(), isNegated };
    if (isNegated) throw unexpected(operator, 'GLOB, IN or CONTAINS');
    if (isSign(operator, '=')) return { kind: 'equals', path, value: this.#literal(), isNegated: false };
    if (isSign(operator, '!=')) return { kind: 'equals', path, value: this.#literal(), isNegated: true };
    const order = ORDER_OPERATORS.find((sign) => isSign(operator, sign));
    if (order === undefined) throw unexpected(operator, 'an operator');
    return this.#order(path, order);
  }

  #order(path: ReturnType<typeof filterPath>, operator: OrderOperator): FilterNode {
    const { at } = this.#peek();
    const value = this.#literal();
    if (typeof value === 'boolean') throw filterProblem(at, `${operator} compares numbers and texts`);
    return { kind: 'order', path, operator, value };
  }

  #path() {
    const token = this.#take();
    if (token.kind !== 'word') throw unexpected(token, 'the name of a field');
    return filterPath(token.text, token.at);
  }

  #pattern(): string {
    const token = this.#take();
    if (token.kind !== 'string') throw unexpected(token, 'a text');
    this.#patternCharacters += token.value.length;
    if (this.#patternCharacters > MAX_FILTER_PATTERN_CHARACTERS) {
      throw filterProblem(
        token.at,
        `the patterns of a filter have at most ${MAX_FILTER_PATTERN_CHARACTERS} characters together`,
      );
    }
    const problem = compileFilterGlob(token.value).problem;
    if (problem !== undefined) throw filterProblem(token.at, problem);
    return token.value;
  }

  #values(): FilterLiteral[] {
    this.#takeSign('(', '"("');
    const values: FilterLiteral[] = [];
    if (this.#takeSignIf(')')) return values;
    do {
      if (values.length >= MAX_FILTER_VALUES) {
        throw filterProblem(this.#peek().at, `a list has at most ${MAX_FILTER_VALUES} values`);
      }
      values.push(this.#literal());
    } while (this.#takeSignIf(','));
    this.#takeSign(')', '"," or ")"');
    return values;
  }

  #literal(): FilterLiteral {
    const token = this.#take();
    if (token.kind === 'string' || token.kind === 'number') return token.value;
    if (isWord(token, 'TRUE')) return true;
    if (isWord(token, 'FALSE')) return false;
    throw unexpected(token, 'a value');
  }

  #peek(ahead = 0): FilterToken {
    const { tokens } = this;
    return (tokens[this.#next + ahead] ?? tokens.at(-1)) as FilterToken;
  }

  #take(): FilterToken {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #takeWord(word: string): boolean {
    const isThere = isWord(this.#peek(), word);
    if (isThere) this.#next += 1;
    return isThere;
  }

  #takeSignIf(sign: FilterSign): boolean {
    const isThere = isSign(this.#peek(), sign);
    if (isThere) this.#next += 1;
    return isThere;
  }

  #takeSign(sign: FilterSign, expected: string): void {
    if (!this.#takeSignIf(sign)) throw unexpected(this.#peek(), expected);
  }
}

function isWord(token: FilterToken, word: string): boolean {
  return token.kind === 'word' && token.text.toUpperCase() === word;
}

function isSign(token: FilterToken, sign: FilterSign): boolean {
  return token.kind === 'sign' && token.text === sign;
}

/** An error shows this many characters of an unexpected token. */
const SHOWN_CHARACTERS = 40;

function unexpected(token: FilterToken, expected: string) {
  const found = token.kind === 'end' ? 'the end' : JSON.stringify(token.text.slice(0, SHOWN_CHARACTERS));
  return filterProblem(token.at, `expected ${expected}, found ${found}`);
}

const METADATA = '@metadata.';
/** A name first, then any number of `.name` and `[element]`. */
const STEP = /\.?([\p{L}_][\p{L}\p{M}\p{Nd}_#-]*|\p{Nd}[\p{L}\p{M}\p{Nd}_#-]*)|\[(\d{1,9})\]|\[#-(\d{1,9})\]/uy;

/** Parses a path such as `a.b[0][#-1]` or `@metadata.a`. @throws INVALID */
function filterPath(text: string, at: number): FilterPath {
  const isMetadata = text.startsWith(METADATA);
  const from = isMetadata ? METADATA.length : 0;
  const steps: (string | number)[] = [];
  let next = from;
  while (next < text.length) {
    STEP.lastIndex = next;
    const match = STEP.exec(text);
    const [whole = '', name, element, fromEnd] = match ?? [];
    // Every name except the first follows a dot; `a[0]b` is invalid.
    const isApart = name === undefined || whole.startsWith('.') === next > from;
    if (match === null || !isApart || fromEnd === '0') throw filterProblem(at + next, 'invalid path to a field');
    if (steps.length >= MAX_FILTER_PATH_STEPS) {
      throw filterProblem(at + next, `a path has at most ${MAX_FILTER_PATH_STEPS} steps`);
    }
    steps.push(name ?? (element === undefined ? -Number(fromEnd) : Number(element)));
    next = STEP.lastIndex;
  }
  return { root: isMetadata ? 'metadata' : 'content', steps };
}
