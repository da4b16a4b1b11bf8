/**
 * Expressions of VSIM FILTER over the JSON attributes of an element, compiled to a program in postfix order. An element
 * without a selected attribute does not match. `in` tests a list, or a text for a part of it.
 */
import { type ByteString, textOfBytes } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';

type Scalar = number | string | null;
type Term = Scalar | readonly Scalar[];
interface Operator {
  readonly precedence: number;
  readonly operands: 1 | 2;
  readonly apply: (a: Term, b: Term) => Term;
}
type Step = { readonly value: Term } | { readonly selector: string } | Operator;
type Token = Step | '(' | ')';

/** An expression is evaluated for many elements between two pauses. */
const MAX_STEPS = 500;
const NUMBER = /^-?\d[\d.eE]*/;
const SELECTOR = /^\.([A-Za-z0-9_-]+)/;
const TEXT = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')/s;
const WORD = /^(?:\*\*|>=|<=|==|!=|&&|\|\||[-+*/%!()<>]|not\b|in\b|and\b|or\b|null\b)/;
const LIST = /^\[\s*/;
const LIST_ITEM = /^\s*(,|\])\s*/;

const truth = (is: boolean): number => (is ? 1 : 0);
const numeric =
  (operation: (a: number, b: number) => number): Operator['apply'] =>
  (a, b) =>
    operation(numberOf(a), numberOf(b));
const binary = (precedence: number, apply: Operator['apply']): Operator => ({ precedence, operands: 2, apply });
const not: Operator = { precedence: 6, operands: 1, apply: (_, b) => truth(!isTrue(b)) };
const and = binary(1, (a, b) => truth(isTrue(a) && isTrue(b)));
const or = binary(0, (a, b) => truth(isTrue(a) || isTrue(b)));
const power = binary(
  5,
  numeric((a, b) => a ** b),
);

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['!', not],
  ['not', not],
  ['**', power],
  [
    '*',
    binary(
      4,
      numeric((a, b) => a * b),
    ),
  ],
  [
    '/',
    binary(
      4,
      numeric((a, b) => a / b),
    ),
  ],
  [
    '%',
    binary(
      4,
      numeric((a, b) => a % b),
    ),
  ],
  [
    '+',
    binary(
      3,
      numeric((a, b) => a + b),
    ),
  ],
  [
    '-',
    binary(
      3,
      numeric((a, b) => a - b),
    ),
  ],
  [
    '>',
    binary(
      2,
      numeric((a, b) => truth(a > b)),
    ),
  ],
  [
    '>=',
    binary(
      2,
      numeric((a, b) => truth(a >= b)),
    ),
  ],
  [
    '<',
    binary(
      2,
      numeric((a, b) => truth(a < b)),
    ),
  ],
  [
    '<=',
    binary(
      2,
      numeric((a, b) => truth(a <= b)),
    ),
  ],
  ['==', binary(2, (a, b) => truth(areEqual(a, b)))],
  ['!=', binary(2, (a, b) => truth(!areEqual(a, b)))],
  ['in', binary(2, (a, b) => truth(isIn(a, b)))],
  ['and', and],
  ['&&', and],
  ['or', or],
  ['||', or],
]);

export class FilterExpression {
  private constructor(private readonly program: readonly Step[]) {}

  /** @throws ErrorReply with the rest of the text at the error */
  static compile(given: ByteString): FilterExpression {
    return new FilterExpression(postfix(given));
  }

  /** @param attributes the JSON text of an element, '' for none */
  matches(attributes: ByteString): boolean {
    const object = attributes === '' ? undefined : parsed(attributes);
    if (object === undefined) return false;
    const stack: Term[] = [];
    for (const step of this.program) {
      if ('value' in step) stack.push(step.value);
      else if ('selector' in step) {
        const term = termOf(Object.hasOwn(object, step.selector) ? object[step.selector] : undefined);
        if (term === undefined) return false;
        stack.push(term);
      } else {
        const b = stack.pop() as Term;
        const a = step.operands === 2 ? (stack.pop() as Term) : null;
        stack.push(step.apply(a, b));
      }
    }
    return isTrue(stack[0] as Term);
  }
}

function parsed(attributes: ByteString): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(textOfBytes(attributes));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** undefined for objects, and for lists with other contents than numbers and texts. */
function termOf(value: unknown): Term | undefined {
  if (Array.isArray(value)) {
    const items = value.map(scalarOf);
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  return scalarOf(value);
}

function scalarOf(value: unknown): Scalar | undefined {
  if (typeof value === 'boolean') return truth(value);
  if (typeof value === 'number' || typeof value === 'string' || value === null) return value;
  return undefined;
}

/** Operators by precedence, with a stack of those that wait for their last operand. */
function postfix(given: ByteString): Step[] {
  const text = textOfBytes(given);
  const program: Step[] = [];
  const waiting: (Operator | '(')[] = [];
  let depth = 0;
  const emit = (step: Step, rest: string): void => {
    if ('apply' in step) {
      if (depth < step.operands) throw syntaxError(rest);
      depth -= step.operands;
    }
    depth += 1;
    program.push(step);
    if (program.length > MAX_STEPS) throw new ErrorReply(`ERR a FILTER expression has at most ${MAX_STEPS} parts`);
  };
  let rest = text.trimStart();
  let mayBeNegative = true;
  while (rest !== '') {
    const { token, length } = nextToken(rest, mayBeNegative);
    if (token === '(') waiting.push(token);
    else if (token === ')') {
      for (let top = waiting.pop(); top !== '('; top = waiting.pop()) {
        if (top === undefined) throw syntaxError(rest);
        emit(top, rest);
      }
    } else if ('apply' in token) {
      for (let top = waiting.at(-1); top !== undefined && top !== '(' && isBefore(top, token); top = waiting.at(-1)) {
        emit(top, rest);
        waiting.pop();
      }
      waiting.push(token);
    } else emit(token, rest);
    mayBeNegative = token === '(' || (token !== ')' && 'apply' in token);
    rest = rest.slice(length).trimStart();
  }
  for (let top = waiting.pop(); top !== undefined; top = waiting.pop()) {
    if (top === '(') throw syntaxError(text);
    emit(top, text);
  }
  if (depth !== 1) throw syntaxError(text);
  return program;
}

/** Equal ones are evaluated from the left, except powers and negations. */
function isBefore(top: Operator, next: Operator): boolean {
  if (next.operands === 1) return false;
  return next === power ? top.precedence > next.precedence : top.precedence >= next.precedence;
}

function nextToken(rest: string, mayBeNegative: boolean): { readonly token: Token; readonly length: number } {
  const number = mayBeNegative || rest[0] !== '-' ? NUMBER.exec(rest)?.[0] : undefined;
  if (number !== undefined) return { token: { value: numberIn(number, rest) }, length: number.length };
  const quoted = TEXT.exec(rest);
  if (quoted !== null) return { token: { value: unescaped(quoted) }, length: quoted[0].length };
  const selector = SELECTOR.exec(rest);
  if (selector !== null) return { token: { selector: selector[1] as string }, length: selector[0].length };
  if (rest.startsWith('[')) return list(rest);
  const word = WORD.exec(rest)?.[0];
  if (word === undefined) throw syntaxError(rest);
  if (word === 'null') return { token: { value: null }, length: word.length };
  if (word === '(' || word === ')') return { token: word, length: 1 };
  return { token: OPERATORS.get(word) as Operator, length: word.length };
}

function list(given: string): { readonly token: Token; readonly length: number } {
  const items: Scalar[] = [];
  let rest = given.slice((LIST.exec(given) as RegExpExecArray)[0].length);
  for (let isOpen = !rest.startsWith(']'); isOpen; ) {
    const number = NUMBER.exec(rest)?.[0];
    const quoted = TEXT.exec(rest);
    if (number !== undefined) items.push(numberIn(number, rest));
    else if (quoted !== null) items.push(unescaped(quoted));
    else throw syntaxError(rest);
    rest = rest.slice((number ?? quoted?.[0] ?? '').length);
    const end = LIST_ITEM.exec(rest);
    if (end === null) throw syntaxError(rest);
    isOpen = end[1] === ',';
    rest = isOpen ? rest.slice(end[0].length) : rest.trimStart();
  }
  return { token: { value: items }, length: given.length - rest.length + 1 };
}

function numberIn(text: string, rest: string): number {
  const number = Number(text);
  if (Number.isNaN(number)) throw syntaxError(rest);
  return number;
}

function unescaped([, double, single]: RegExpExecArray): string {
  return (double ?? single ?? '').replace(/\\(.)/gs, '$1');
}

function syntaxError(rest: string): ErrorReply {
  return new ErrorReply(`ERR syntax error in FILTER expression near: ${Buffer.from(rest).toString('latin1')}`);
}

function numberOf(term: Term): number {
  if (typeof term === 'number') return term;
  if (typeof term !== 'string' || term.trim() === '') return 0;
  const number = Number(term);
  return Number.isNaN(number) ? 0 : number;
}

function isTrue(term: Term): boolean {
  return typeof term === 'object' ? term !== null : term !== 0 && term !== '';
}

function areEqual(a: Term, b: Term): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b;
  if (a === null || b === null) return a === b;
  return numberOf(a) === numberOf(b);
}

function isIn(a: Term, b: Term): boolean {
  if (typeof a === 'string' && typeof b === 'string') return b.includes(a);
  return Array.isArray(b) && b.some((item: Scalar) => areEqual(a, item));
}
