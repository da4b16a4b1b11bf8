/** Splits a filter into tokens with the index of their first character. The parser interprets them. */
import { MillraceError } from '../../kernel/index.js';

export type FilterToken =
  /** A keyword or an identifier: only its place tells which. */
  | { readonly kind: 'word'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly value: number; readonly text: string; readonly at: number }
  /** A string has no escapes: it ends at the next quote of its kind. */
  | { readonly kind: 'string'; readonly value: string; readonly text: string; readonly at: number }
  | { readonly kind: 'sign'; readonly text: FilterSign; readonly at: number }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number };

export type FilterSign = '(' | ')' | ',' | '=' | '!=' | '<' | '<=' | '>' | '>=';

const SPACE = /\s+/y;
const WORD = /@metadata\.[\p{L}_][\p{L}\p{M}\p{Nd}_.[\]#-]*|[\p{L}_][\p{L}\p{M}\p{Nd}_.[\]#-]*/uy;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const SIGN = /!=|<=|>=|[(),=<>]/y;
const STRING = /'[^']*'|"[^"]*"/y;
/** Characters that may not directly follow a number: `1a` is neither a number nor a name. */
const GLUED = /[\p{L}_.@\d]/uy;

/** @throws INVALID with the number of the character, counted from 1 */
export function filterTokens(filter: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(filter)?.[0];
  };
  while (at < filter.length) {
    const space = match(SPACE);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = tokenAt(at, match, filter);
    tokens.push(token);
    at += token.text.length;
    if (token.kind === 'number' && match(GLUED) !== undefined) throw filterProblem(token.at, 'invalid number');
  }
  tokens.push({ kind: 'end', text: '', at });
  return tokens;
}

function tokenAt(at: number, match: (pattern: RegExp) => string | undefined, filter: string): FilterToken {
  const word = match(WORD);
  if (word !== undefined) return { kind: 'word', text: word, at };
  const number = match(NUMBER);
  if (number !== undefined) {
    const value = Number(number);
    if (!Number.isFinite(value)) throw filterProblem(at, 'a number is too large');
    return { kind: 'number', value, text: number, at };
  }
  const sign = match(SIGN);
  if (sign !== undefined) return { kind: 'sign', text: sign as FilterSign, at };
  const string = match(STRING);
  if (string !== undefined) return { kind: 'string', value: string.slice(1, -1), text: string, at };
  const character = String.fromCodePoint(filter.codePointAt(at) ?? 0);
  if (character === "'" || character === '"') throw filterProblem(at, 'a text is not closed');
  throw filterProblem(at, `${JSON.stringify(character)} has no meaning here`);
}

/** @param at counted from 0 */
export function filterProblem(at: number, problem: string): MillraceError {
  return new MillraceError('INVALID', `invalid filter at character ${at + 1}: ${problem}`, { at: at + 1 });
}
