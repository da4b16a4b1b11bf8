/**
 * The retry-delay expression of a message: arithmetic with a result in milliseconds (grammar in
 * docs/guide/retry-delay.md).
 *     expression = term, { ( "+" | "-" ), term } ;
 *     term       = factor, { ( "*" | "/" ), factor } ;
 *     factor     = { "-" }, ( number | "retried" | function, "(", arguments, ")" | "(", expression, ")" ) ;
 *
 *  RD1 the parser throws for no text, and no text is evaluated as JavaScript
 *  RD2 length and nesting are bounded, so that parsing and evaluating take microseconds
 */
import { MAX_EXPRESSION_CHARACTERS, MAX_RETRY_DELAY_MS } from '../limits.js';

/**
 * @param retried retries already made: 0 before the first
 * @returns the raw value, which may be negative, infinite or NaN
 */
type RetryDelayFormula = (retried: number) => number;

export type RetryDelayOutcome =
  | { readonly isOk: true; readonly formula: RetryDelayFormula }
  | { readonly isOk: false; readonly message: string };

/** Nesting depth of parentheses and signs. */
const MAX_NESTING = 32;
/** Cached compiled expressions; a service has a handful. */
const KEPT_EXPRESSIONS = 1024;

const FUNCTIONS: ReadonlyMap<string, { readonly arity: number; readonly apply: (...values: number[]) => number }> =
  new Map([
    ['pow', { arity: 2, apply: Math.pow }],
    ['exp', { arity: 1, apply: Math.exp }],
    ['sqrt', { arity: 1, apply: Math.sqrt }],
    ['abs', { arity: 1, apply: Math.abs }],
    ['floor', { arity: 1, apply: Math.floor }],
    ['ceil', { arity: 1, apply: Math.ceil }],
    ['round', { arity: 1, apply: Math.round }],
    ['min', { arity: 2, apply: Math.min }],
    ['max', { arity: 2, apply: Math.max }],
  ]);

const compiled = new Map<string, RetryDelayOutcome>();

/** Compiles each text once. The message of a refusal names the problem and its place. */
export function compileRetryDelay(text: string): RetryDelayOutcome {
  if (text.length > MAX_EXPRESSION_CHARACTERS) {
    return { isOk: false, message: `expression is longer than ${MAX_EXPRESSION_CHARACTERS} characters` };
  }
  let outcome = compiled.get(text);
  if (outcome === undefined) {
    outcome = new Parser(text).parse();
    if (compiled.size >= KEPT_EXPRESSIONS) compiled.delete(compiled.keys().next().value as string);
    compiled.set(text, outcome);
  }
  return outcome;
}

/**
 * Milliseconds, rounded and within 0 … `MAX_RETRY_DELAY_MS`. Undefined when the value is not a number (`sqrt(-1)`, `0
 * / 0`) or the text is not an expression: a delay of 0 would call the destination again and again without a pause.
 */
export function retryDelayMs(text: string, retried: number): number | undefined {
  const outcome = compileRetryDelay(text);
  if (!outcome.isOk) return undefined;
  const value = outcome.formula(retried);
  return Number.isNaN(value) ? undefined : Math.round(Math.min(Math.max(value, 0), MAX_RETRY_DELAY_MS));
}

/** The reason why parsing stopped; the first one counts. */
interface Problem {
  readonly message: string;
}

class Parser {
  #at = 0;
  #nesting = 0;
  #problem: Problem | undefined;

  constructor(readonly text: string) {}

  parse(): RetryDelayOutcome {
    const formula = this.#expression();
    this.#skipBlanks();
    if (this.#at < this.text.length) this.#fail('an operator');
    if (formula === undefined || this.#problem !== undefined) {
      return { isOk: false, message: this.#problem?.message ?? 'not an expression' };
    }
    return { isOk: true, formula };
  }

  #expression(): RetryDelayFormula | undefined {
    let left = this.#term();
    while (left !== undefined) {
      const operator = this.#take('+', '-');
      if (operator === undefined) return left;
      const before = left;
      const right = this.#term();
      if (right === undefined) return undefined;
      left =
        operator === '+'
          ? (retried) => before(retried) + right(retried)
          : (retried) => before(retried) - right(retried);
    }
    return undefined;
  }

  #term(): RetryDelayFormula | undefined {
    let left = this.#factor();
    while (left !== undefined) {
      const operator = this.#take('*', '/');
      if (operator === undefined) return left;
      const before = left;
      const right = this.#factor();
      if (right === undefined) return undefined;
      left =
        operator === '*'
          ? (retried) => before(retried) * right(retried)
          : (retried) => before(retried) / right(retried);
    }
    return undefined;
  }

  #factor(): RetryDelayFormula | undefined {
    if (this.#nesting >= MAX_NESTING) return this.#failWith(`expression is nested deeper than ${MAX_NESTING}`);
    this.#nesting += 1;
    const formula = this.#signedFactor();
    this.#nesting -= 1;
    return formula;
  }

  #signedFactor(): RetryDelayFormula | undefined {
    if (this.#take('-') !== undefined) {
      const value = this.#factor();
      return value && ((retried) => -value(retried));
    }
    if (this.#take('(') !== undefined) {
      const value = this.#expression();
      return value && this.#expect(')') ? value : undefined;
    }
    const start = this.#at;
    if (isDigit(this.text.charCodeAt(start))) return this.#number();
    while (isLetter(this.text.charCodeAt(this.#at))) this.#at += 1;
    const name = this.text.slice(start, this.#at);
    if (name === '') return this.#fail('a number, retried, a function or (');
    return name === 'retried' ? (retried) => retried : this.#call(name);
  }

  #number(): RetryDelayFormula | undefined {
    const start = this.#at;
    this.#skipDigits();
    if (this.text[this.#at] === '.') {
      this.#at += 1;
      if (!isDigit(this.text.charCodeAt(this.#at))) return this.#fail('a digit');
      this.#skipDigits();
    }
    const value = Number(this.text.slice(start, this.#at));
    return () => value;
  }

  #call(name: string): RetryDelayFormula | undefined {
    const known = FUNCTIONS.get(name);
    if (known === undefined) return this.#failWith(`unknown name ${name}`);
    if (!this.#expect('(')) return undefined;
    const values: RetryDelayFormula[] = [];
    do {
      const value = this.#expression();
      if (value === undefined) return undefined;
      values.push(value);
    } while (this.#take(',') !== undefined);
    if (!this.#expect(')')) return undefined;
    if (values.length !== known.arity)
      return this.#failWith(`${name} takes ${known.arity === 1 ? 'one value' : 'two values'}`);
    const { apply } = known;
    const [first, second] = values as [RetryDelayFormula, RetryDelayFormula];
    return known.arity === 1 ? (retried) => apply(first(retried)) : (retried) => apply(first(retried), second(retried));
  }

  #take(...operators: string[]): string | undefined {
    this.#skipBlanks();
    const character = this.text[this.#at];
    if (character === undefined || !operators.includes(character)) return undefined;
    this.#at += 1;
    this.#skipBlanks();
    return character;
  }

  #expect(character: string): boolean {
    if (this.#take(character) !== undefined) return true;
    this.#fail(character);
    return false;
  }

  #skipBlanks(): void {
    while (this.text[this.#at] === ' ' || this.text[this.#at] === '\t') this.#at += 1;
  }

  #skipDigits(): void {
    while (isDigit(this.text.charCodeAt(this.#at))) this.#at += 1;
  }

  #fail(expected: string): undefined {
    return this.#failWith(`expected ${expected} at character ${this.#at + 1}`);
  }

  #failWith(message: string): undefined {
    this.#problem ??= { message };
    return undefined;
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}
