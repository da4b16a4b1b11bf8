/**
 * The words of one Redis command, parsed with Redis's errors; `args.bytes(0)` is the name. Handlers use these methods
 * instead of writing "syntax error" or "not an integer" themselves.
 */
import type { ByteString } from '../../kernel/index.js';
import { parseFloatStrict, parseInt64 } from './numbers.js';
import { ERRORS, type ErrorReply } from './reply.js';

export class Args {
  constructor(public words: readonly ByteString[] = []) {}

  get length(): number {
    return this.words.length;
  }

  bytes(index: number): ByteString {
    const word = this.words[index];
    if (word === undefined) throw ERRORS.syntax;
    return word;
  }

  /** The word in upper case, to compare with option names. */
  option(index: number): string {
    return this.bytes(index).toUpperCase();
  }

  from(index: number): readonly ByteString[] {
    return this.words.slice(index);
  }

  /** Any signed 64-bit integer. */
  int64(index: number): bigint {
    const value = parseInt64(this.bytes(index));
    if (value === undefined) throw ERRORS.notAnInteger;
    return BigInt(value);
  }

  /**
   * An integer within ±2^53, which a number holds exactly: counts, indexes, offsets. Larger values are out of range.
   */
  integer(index: number): number {
    const value = parseInt64(this.bytes(index));
    if (value === undefined || typeof value === 'bigint') throw ERRORS.notAnInteger;
    return value;
  }

  /** Any 64-bit integer as an offset into a value; clamped to ±2^53. */
  offset(index: number): number {
    const value = parseInt64(this.bytes(index));
    if (value === undefined) throw ERRORS.notAnInteger;
    if (typeof value === 'number') return value;
    return value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
  }

  /** A count of at least `least`, clamped to 2^53; any invalid word throws `problem`. */
  count(index: number, least: 0 | 1, problem: ErrorReply): number {
    const value = parseInt64(this.bytes(index));
    if (value === undefined || value < least) throw problem;
    return typeof value === 'number' ? value : Number.MAX_SAFE_INTEGER;
  }

  float(index: number): number {
    const value = parseFloatStrict(this.bytes(index));
    if (value === undefined) throw ERRORS.notAFloat;
    return value;
  }
}
