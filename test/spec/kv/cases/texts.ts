/** Errors that many cases expect. */
export const WRONG_TYPE = '-WRONGTYPE Operation against a key holding the wrong kind of value';
export const SYNTAX = '-ERR syntax error';
export const NOT_AN_INTEGER = '-ERR value is not an integer or out of range';
export const NOT_A_FLOAT = '-ERR value is not a valid float';
export const OVERFLOW = '-ERR increment or decrement would overflow';

export function wrongArity(name: string): string {
  return `-ERR wrong number of arguments for '${name}' command`;
}

export function badExpiry(name: string): string {
  return `-ERR invalid expire time in '${name}' command`;
}
